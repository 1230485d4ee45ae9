/** A store that is a majority of independent members: RedLock. */
module io.holdfast.quorum {
    requires transitive io.holdfast.core;
    requires static transitive org.jspecify;

    exports io.holdfast.quorum;
    exports io.holdfast.quorum.memory;
}
