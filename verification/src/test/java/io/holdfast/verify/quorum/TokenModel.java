package io.holdfast.verify.quorum;

import io.holdfast.quorum.TokenRegister;
import io.holdfast.quorum.VerifyQuorum;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An explicit-state model checker for the agreement on tokens: three members, two acquisitions, and every order of
 * events. The members' and the client's decisions are those of a {@link TokenScheme}; for the product's that is the
 * very code that the store runs.
 *
 * <p><b>What may happen at any time:</b> a request that was sent is executed at a member, for the first time or again,
 * however old it is; its answer is heard, or is not; a lock key vanishes, or is granted although somebody else had it
 * (where a scheme does not look at locks, a member may grant or refuse as it likes: more than any real one does).
 * Registers are kept. A client gives up after {@link #COMMITS} commits.
 *
 * <p>An answer is heard when it is made, or never. That leaves nothing out: a client acts only on the answer that
 * decides, and what it does then are requests, which may be late by as much as one likes.
 *
 * <p><b>What must hold:</b> no token is handed out twice; a token is larger than each that was handed out before its
 * acquisition began.
 *
 * <p>With {@linkplain #inTheOrderOfLeases exclusive locks} nothing vanishes, and a client releases when it has had the
 * lock, or has given up. Then leases follow each other, and a token must be larger than that of the lease before, also
 * where the two acquisitions went on at the same time.
 */
final class TokenModel {

    static final int MEMBERS = 3;
    static final int CLIENTS = 2;
    private static final int COMMITS = 2;

    /** What is proposed: equal numbers, and either order. */
    private static final int[] PROPOSALS = {1, 2};

    private static final int IDLE = 0;
    private static final int TAKING = 1;
    private static final int COMMITTING = 2;
    private static final int DONE = 3;

    /** @param violation null if there is none */
    record Result(int states, @Nullable String violation, List<String> steps) {}

    private final TokenScheme scheme;
    private final boolean proposes;
    private final boolean exclusive;
    private final boolean anyMemberCounts;
    private final Map<State, State> parents = new HashMap<>();
    private final ArrayDeque<State> open = new ArrayDeque<>();

    TokenModel(TokenScheme scheme) {
        this(scheme, false, true);
    }

    private TokenModel(TokenScheme scheme, boolean exclusive, boolean anyMemberCounts) {
        this.scheme = scheme;
        this.proposes = scheme instanceof TokenScheme.Strict;
        this.exclusive = exclusive;
        this.anyMemberCounts = anyMemberCounts;
    }

    /** @param anyMemberCounts wrong: also the answer of a member that has not granted the lock commits a token */
    static TokenModel inTheOrderOfLeases(TokenScheme scheme, boolean anyMemberCounts) {
        return new TokenModel(scheme, true, anyMemberCounts);
    }

    private boolean looksAtLocks() {
        return exclusive || scheme.looksAtLocks();
    }

    /** Breadth first, so that a counterexample is as short as possible. */
    Result explore() {
        State start = start();
        parents.put(start, start);
        open.add(start);
        for (State state = open.poll(); state != null; state = open.poll()) {
            for (Step step : steps(state)) {
                State next = step.next;
                if (parents.putIfAbsent(next, state) == null) {
                    if (next.violation != null) {
                        return new Result(parents.size(), next.violation, trace(next));
                    }
                    open.add(next);
                }
            }
        }
        return new Result(parents.size(), null, List.of());
    }

    private State start() {
        State start = new State();
        if (exclusive) {
            // From an acquisition that came to nothing: else the first proposals would do, and nothing be committed.
            start.setRegister(0, new TokenRegister(1, ""));
        }
        return start;
    }

    private List<String> trace(State last) {
        List<String> steps = new ArrayList<>();
        for (State state = last; !state.equals(start()); ) {
            State before = parents.get(state);
            for (Step step : steps(before)) {
                if (step.next.equals(state)) {
                    steps.add(step.name);
                    break;
                }
            }
            state = before;
        }
        Collections.reverse(steps);
        return steps;
    }

    private record Step(String name, State next) {}

    private List<Step> steps(State state) {
        List<Step> steps = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
            if (state.phase(c) == IDLE) {
                for (int proposal : proposes ? PROPOSALS : new int[1]) {
                    State next = state.copy();
                    next.start(c, proposal);
                    steps.add(new Step(
                            name(c) + " asks all members" + (proposes ? ", proposing " + proposal : ""), next));
                }
                continue;
            }
            for (int m = 0; m < MEMBERS; m++) {
                executions(state, c, m, steps);
            }
        }
        for (int m = 0; m < MEMBERS && looksAtLocks(); m++) {
            int holder = state.lock(m);
            if (holder != 0 && (!exclusive || state.phase(holder - 1) == DONE)) {
                State next = state.copy();
                next.setLock(m, 0);
                steps.add(
                        new Step((exclusive ? "the lock is released" : "the lock vanishes") + " at member " + m, next));
            }
        }
        return steps;
    }

    /**
     * All requests that were ever sent may be executed now; if it is one of the present round, the answer may be heard.
     */
    private void executions(State state, int c, int m, List<Step> steps) {
        if (!looksAtLocks() || state.lock(m) == 0 || state.lock(m) == c + 1) {
            State next = state.copy();
            next.setLock(m, looksAtLocks() ? c + 1 : 0);
            TokenScheme.Answer answer = scheme.take(state.register(m), state.candidate(c, 0), name(c));
            next.setRegister(m, answer.register());
            String what = "member " + m + " grants " + name(c) + ", has " + text(next.register(m));
            steps.add(new Step(what, next));
            if (state.phase(c) == TAKING) {
                State heard = next.copy();
                steps.add(new Step(what + hear(heard, c, m, true, answer.accepted(), answer.number()), heard));
            }
        }
        if (state.phase(c) == TAKING && (!looksAtLocks() || state.lock(m) == 2 - c)) {
            State next = state.copy();
            String what = "member " + m + " is busy for " + name(c) + ", has " + text(state.register(m));
            steps.add(new Step(
                    what + hear(next, c, m, false, false, state.register(m).token()), next));
        }
        for (int round = 1; round <= state.rounds(c); round++) {
            State next = state.copy();
            long candidate = state.candidate(c, round);
            TokenScheme.Answer answer = scheme.commit(state.register(m), candidate, name(c), state.lock(m) == c + 1);
            next.setRegister(m, answer.register());
            String what = "member " + m + " is asked by " + name(c) + " to write " + candidate + ", has "
                    + text(next.register(m));
            steps.add(new Step(what, next));
            if (state.phase(c) == COMMITTING && round == state.rounds(c)) {
                State heard = next.copy();
                steps.add(new Step(what + hear(heard, c, m, true, answer.accepted(), answer.number()), heard));
            }
        }
    }

    private String hear(State state, int c, int m, boolean granted, boolean accepted, long number) {
        if (!anyMemberCounts && state.phase(c) == COMMITTING && (state.granted(c) & 1 << m) == 0) {
            return "; it has not granted the lock to " + name(c);
        }
        VerifyQuorum.Round before = state.round(c);
        VerifyQuorum.Round round = before.answered(m, accepted, number);
        if (round.equals(before)) {
            return "; " + name(c) + " has heard from it already";
        }
        state.setRound(c, round);
        String heard = "; " + name(c) + " hears that";
        if (state.phase(c) == TAKING) {
            if (granted) {
                state.grantedBy(c, m);
            }
            if (Integer.bitCount(state.granted(c)) < VerifyQuorum.majority(MEMBERS)) {
                return heard;
            }
            Long token = scheme.decidedByTake(round);
            return heard + (token != null ? commit(state, c, token) : again(state, c, round));
        }
        if (round.isCommitted()) {
            return heard + commit(state, c, round.candidate());
        }
        return heard + (round.isRefused() ? again(state, c, round) : "");
    }

    private String again(State state, int c, VerifyQuorum.Round round) {
        if (state.rounds(c) == COMMITS) {
            state.setPhase(c, DONE);
            return " and gives up";
        }
        VerifyQuorum.Round next = round.next();
        state.begin(c, next, exclusive);
        return " and asks all to write " + next.candidate();
    }

    private String commit(State state, int c, long token) {
        int other = 1 - c;
        if (token != 0 && token == state.token(other)) {
            state.violation = "the same token twice: " + token;
        } else if (exclusive && token < state.token(other)) {
            state.violation = "token " + token + " of a lease after that of token " + state.token(other);
        } else if (token <= state.floor(c)) {
            state.violation = "token " + token + " after " + state.floor(c);
        }
        state.committed(c, token);
        return " and has token " + token;
    }

    private static String name(int client) {
        return client == 0 ? "A" : "B";
    }

    private static String text(TokenRegister register) {
        return register.token() + (register.id().isEmpty() ? "" : " of " + register.id());
    }

    /** Everything, in a few bytes. */
    private static final class State {

        // a member: token, its id, lock; a client: phase, rounds, candidates, accepted, refused, highest, granted,
        // floor,
        // token, and for each member whether an answer waits, what it says, and its number
        private static final int MEMBER = 3;
        private static final int CANDIDATES = 2;
        private static final int ROUND = CANDIDATES + COMMITS + 1;
        private static final int CLIENT = ROUND + 6;

        private final byte[] bytes;

        /** What is wrong with the step that led here; never looked at again, as exploration ends then. */
        private @Nullable String violation;

        State() {
            bytes = new byte[MEMBERS * MEMBER + CLIENTS * CLIENT];
        }

        private State(byte[] bytes) {
            this.bytes = bytes;
        }

        State copy() {
            return new State(bytes.clone());
        }

        TokenRegister register(int m) {
            int id = bytes[m * MEMBER + 1];
            return new TokenRegister(bytes[m * MEMBER], id == 0 ? "" : name(id - 1));
        }

        void setRegister(int m, TokenRegister register) {
            bytes[m * MEMBER] = small(register.token());
            bytes[m * MEMBER + 1] =
                    (byte) (register.id().isEmpty() ? 0 : register.id().equals("A") ? 1 : 2);
        }

        int lock(int m) {
            return bytes[m * MEMBER + 2];
        }

        void setLock(int m, int holder) {
            bytes[m * MEMBER + 2] = (byte) holder;
        }

        private static int at(int c) {
            return MEMBERS * MEMBER + c * CLIENT;
        }

        int phase(int c) {
            return bytes[at(c)];
        }

        void setPhase(int c, int phase) {
            bytes[at(c)] = (byte) phase;
            if (phase == DONE) {
                // What it knew does not matter any more, only what it has sent.
                Arrays.fill(bytes, at(c) + ROUND, at(c) + ROUND + 4, (byte) 0);
            }
        }

        int rounds(int c) {
            return bytes[at(c) + 1];
        }

        long candidate(int c, int round) {
            return bytes[at(c) + CANDIDATES + round];
        }

        void start(int c, int proposal) {
            setPhase(c, TAKING);
            bytes[at(c) + CANDIDATES] = (byte) proposal;
            bytes[at(c) + ROUND + 4] = bytes[at(1 - c) + ROUND + 5];
            setRound(c, VerifyQuorum.Round.propose(MEMBERS, proposal));
        }

        void begin(int c, VerifyQuorum.Round round, boolean keepsGrants) {
            setPhase(c, COMMITTING);
            bytes[at(c) + 1]++;
            bytes[at(c) + CANDIDATES + rounds(c)] = small(round.candidate());
            if (!keepsGrants) {
                bytes[at(c) + ROUND + 3] = 0;
            }
            setRound(c, round);
        }

        VerifyQuorum.Round round(int c) {
            int r = at(c) + ROUND;
            return new VerifyQuorum.Round(MEMBERS, candidate(c, rounds(c)), bytes[r], bytes[r + 1], bytes[r + 2]);
        }

        void setRound(int c, VerifyQuorum.Round round) {
            int r = at(c) + ROUND;
            bytes[r] = small(round.accepted());
            bytes[r + 1] = small(round.refused());
            bytes[r + 2] = small(round.highest());
        }

        int granted(int c) {
            return bytes[at(c) + ROUND + 3];
        }

        void grantedBy(int c, int m) {
            bytes[at(c) + ROUND + 3] |= (byte) (1 << m);
        }

        long floor(int c) {
            return bytes[at(c) + ROUND + 4];
        }

        /** Zero if it has none. */
        long token(int c) {
            return bytes[at(c) + ROUND + 5];
        }

        void committed(int c, long token) {
            setPhase(c, DONE);
            bytes[at(c) + ROUND + 5] = small(token);
        }

        private static byte small(long number) {
            if (number < 0 || number > Byte.MAX_VALUE) {
                throw new IllegalStateException("too large for the model: " + number);
            }
            return (byte) number;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof State that && Arrays.equals(bytes, that.bytes);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }
    }
}
