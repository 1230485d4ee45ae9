package shop;

/** Thrown when another caller does the same thing already. */
public class BusyException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    BusyException(String what) {
        super(what);
    }
}
