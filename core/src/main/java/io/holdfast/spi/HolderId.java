package io.holdfast.spi;

/**
 * The form of a holder id: {@code <client id>:<number>}. A store may address the client behind a holder id, for example
 * with a grant. Another holder of a name (another library, a hand-written lock) may have any text as its id.
 *
 * <pre>{@code
 * String holderId = HolderId.of("hf-a", 7);      // hf-a:7
 * HolderId.client(holderId);                     // hf-a
 * HolderId.number(holderId);                     // 7
 * }</pre>
 */
public final class HolderId {

    /** The prefix of all client ids. */
    private static final String CLIENT = "hf-";

    /** Ids are sent with each command, so they are short. */
    private static final int RADIX = Character.MAX_RADIX;

    private HolderId() {}

    /**
     * Returns the id of one remote acquisition.
     *
     * @param clientId the id of the client, unique among all clients
     * @param number the number of the acquisition, unique in this client
     */
    public static String of(String clientId, long number) {
        return clientId.concat(":").concat(Long.toString(number, RADIX));
    }

    /** Returns the id of the client that made this holder id; empty if no client of Holdfast did. */
    public static String client(String holderId) {
        return holderId.substring(0, Math.max(0, holderId.lastIndexOf(':')));
    }

    /** Returns the number of the acquisition; −1 if no client of Holdfast made this holder id. */
    public static long number(String holderId) {
        try {
            return Long.parseLong(holderId, holderId.lastIndexOf(':') + 1, holderId.length(), RADIX);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /**
     * Returns whether a holder that a store shows is no client of Holdfast. A text in parentheses is not a holder: a
     * store that knows no holder shows it.
     */
    public static boolean isForeign(String holder) {
        return !holder.startsWith(CLIENT) && !holder.startsWith("(");
    }
}
