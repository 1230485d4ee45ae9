package io.holdfast.quorum;

/**
 * The record of one member of a quorum about the fencing tokens of a name: the largest token it has accepted, and the
 * id that wrote it.
 *
 * <p>{@link #admits} is a member's whole part in the agreement on tokens. It is strict: a member accepts each number
 * from at most one id, and no number that is smaller than one accepted before. This makes tokens unique and ordered,
 * whatever becomes of the locks (the description of this package has the argument). A member
 * outside this JVM does the same in one atomic step of its own.
 *
 * <pre>{@code
 * TokenRegister register = new TokenRegister(0, "").write(5, "hf-a:1");
 * register.admits(5, "hf-b:1");      // false: hf-a:1 has written this number
 * register.admits(6, "hf-b:1");      // true
 * }</pre>
 *
 * @param token the largest number accepted; zero if none was
 * @param id the id that wrote it; empty if none did
 */
public record TokenRegister(long token, String id) {

    /** A register that has accepted nothing. */
    public static final TokenRegister EMPTY = new TokenRegister(0, "");

    /** Returns whether this id may write this number: the number is larger than any before, or the same id wrote it. */
    public boolean admits(long proposed, String by) {
        return token < proposed || (token == proposed && id.equals(by));
    }

    /** Returns the register after the attempt to write. */
    public TokenRegister write(long proposed, String by) {
        return admits(proposed, by) ? new TokenRegister(proposed, by) : this;
    }
}
