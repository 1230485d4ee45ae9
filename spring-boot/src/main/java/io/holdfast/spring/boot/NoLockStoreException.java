package io.holdfast.spring.boot;

/** There is nothing to keep locks on, or it cannot be used. */
final class NoLockStoreException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String wayOut;

    NoLockStoreException(String what, String wayOut) {
        super(what);
        this.wayOut = wayOut;
    }

    String wayOut() {
        return wayOut;
    }
}
