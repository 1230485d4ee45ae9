/** Checks a recorded history of lock use, of any lock. */
module io.holdfast.history {
    requires static transitive org.jspecify;

    exports io.holdfast.history;
}
