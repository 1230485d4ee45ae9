package io.holdfast.spi;

/**
 * What one member of a quorum remembers of the fencing tokens of a name: the largest it has accepted, and from whom.
 *
 * <p>The whole of a member's part in the agreement on tokens is {@link #admits}. It is strict: every number is accepted
 * from at most one id, and none that is smaller than one accepted before. That is what makes tokens unique and ordered,
 * whatever becomes of the locks (the argument is in the description of the package {@code io.holdfast.quorum}). A member
 * that is not in this JVM does the same in one atomic step of its own.
 *
 * @param token the largest number accepted; zero for none
 * @param id who wrote it; empty for nobody
 */
public record TokenRegister(long token, String id) {

    /** Nothing was accepted so far. */
    public static final TokenRegister EMPTY = new TokenRegister(0, "");

    /** Whether this number may be written by this id: it is larger than any before, or was written by this very id. */
    public boolean admits(long proposed, String by) {
        return token < proposed || (token == proposed && id.equals(by));
    }

    /** The register after the attempt to write. */
    public TokenRegister write(long proposed, String by) {
        return admits(proposed, by) ? new TokenRegister(proposed, by) : this;
    }
}
