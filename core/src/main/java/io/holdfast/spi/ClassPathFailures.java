package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * Explains failures of a store whose cause is the class path: a class is missing, or is of another version than the
 * class that uses it. No server can be the cause of these, and no retry helps.
 *
 * <pre>{@code
 * StoreException why = ClassPathFailures.find(error, "table://db1");
 * throw why != null ? why : new StoreException(NOT_EXECUTED, "table://db1 cannot be reached", error);
 * }</pre>
 */
public final class ClassPathFailures {

    private ClassPathFailures() {}

    /**
     * Returns the failure with a message that names the class, or null if no cause of the error is a {@link
     * LinkageError}. Also searches the suppressed errors.
     *
     * @param store describes the store, without secrets
     */
    public static @Nullable StoreException find(Throwable error, String store) {
        LinkageError found = linkageError(error);
        return found == null
                ? null
                : new StoreException(
                        StoreException.Outcome.FATAL,
                        store + " cannot be opened, because the class path is wrong: "
                                + found.getClass().getSimpleName() + ", " + words(found)
                                + " (give all artifacts of that library the same version; \"mvn dependency:tree\" or"
                                + " \"gradle dependencies\" shows who brings another one)",
                        error);
    }

    private static @Nullable LinkageError linkageError(Throwable error) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError found) {
                return found;
            }
            for (Throwable other : cause.getSuppressed()) {
                LinkageError found = linkageError(other);
                if (found != null) {
                    return found;
                }
            }
        }
        return null;
    }

    /** The message of a missing class is its name alone, with slashes. */
    private static String words(LinkageError error) {
        String said = String.valueOf(error.getMessage());
        return error instanceof NoClassDefFoundError && said.indexOf(' ') < 0 ? said.replace('/', '.') : said;
    }
}
