/** The holder and the waiters of each lock, from the cards of a store's clients. */
module io.holdfast.console {
    requires transitive io.holdfast.core;
    requires static transitive org.jspecify;

    exports io.holdfast.console;
    exports io.holdfast.console.web;
}
