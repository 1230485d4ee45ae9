package io.holdfast.spi;

/**
 * How a holder id is made: {@code <client id>:<number>}. A store may address the client behind one, for example with a grant.
 * Whatever else holds a name (another library, a hand-written lock) may have any text as its id.
 */
public final class HolderId {

    /** What the ids of clients begin with. */
    private static final String CLIENT = "hf-";

    private HolderId() {}

    /**
     * The id of one remote acquisition.
     *
     * @param clientId of the client, unique among all
     * @param number of the acquisition, unique in this client
     */
    public static String of(String clientId, long number) {
        return clientId + ':' + number;
    }

    /** The id of the client that made this holder id; empty if no client of Holdfast did. */
    public static String client(String holderId) {
        return holderId.substring(0, Math.max(0, holderId.lastIndexOf(':')));
    }

    /** The number of the acquisition; −1 if no client of Holdfast made this holder id. */
    public static long number(String holderId) {
        try {
            return Long.parseLong(holderId, holderId.lastIndexOf(':') + 1, holderId.length(), 10);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /**
     * Whether a holder that a store shows is no client of Holdfast. A text in parentheses is no holder: a store that knows
     * none shows it.
     */
    public static boolean isForeign(String holder) {
        return !holder.startsWith(CLIENT) && !holder.startsWith("(");
    }
}
