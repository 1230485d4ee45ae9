package io.holdfast.redis;

import io.holdfast.spi.QuorumMember.Standing;
import io.holdfast.spi.TokenRegister;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a member of a quorum has about one lock, as read at once: what the scripts look up with {@code
 * quorum-common.lua}, whose keys and formats these are.
 *
 * @param now the server's time in ms
 * @param birth empty for none
 * @param holder empty for nobody
 * @param remaining of the hold, in ms, as PTTL says it
 * @param register empty for none
 * @param waiting client id → {@code since:until}
 * @param waitingExpiry of the hash of those who wait, as PTTL says it
 * @param sequence empty for none
 */
record MemberView(
        long now,
        String birth,
        String holder,
        long remaining,
        String register,
        Map<String, String> waiting,
        long waitingExpiry,
        String sequence) {

    Standing standing() {
        return new Standing(birth, Math.max(0, votesFrom(birth) - now));
    }

    /** From when on the server may vote; zero if nothing is said. */
    static long votesFrom(String birth) {
        String from = birth.substring(birth.lastIndexOf(':') + 1);
        return from.matches("\\d{1,15}") && birth.indexOf(':') >= 0 ? Long.parseLong(from) : 0;
    }

    /** The run id of the server that was given this birth; empty if there is none. */
    static String runIdOf(String birth) {
        String[] parts = birth.split(":", -1);
        return parts.length == 3 ? parts[1] : "";
    }

    TokenRegister token() {
        Numbered token = Numbered.of(register);
        return new TokenRegister(token.number(), token.id());
    }

    /** How many exact settings the hold of this id has seen. */
    long settings(String id) {
        Numbered settings = Numbered.of(sequence);
        return settings.id().equals(id) ? settings.number() : 0;
    }

    /** Since when the client waits, in ms of the server's time; zero if it does not, or has not asked for too long. */
    long waitsSince(String client) {
        Stay stay = Stay.of(waiting.getOrDefault(client, ""));
        return stay.until() > now ? stay.since() : 0;
    }

    /** The clients that wait, beside this one, the longest waiting first. */
    List<String> waitingBeside(String client) {
        Map<String, Long> since = new HashMap<>();
        waiting.forEach((id, text) -> {
            Stay stay = Stay.of(text);
            if (stay.until() > now && !id.equals(client)) {
                since.put(id, stay.since());
            }
        });
        List<String> ids = new ArrayList<>(since.keySet());
        ids.sort(Comparator.comparingLong((String id) -> since.getOrDefault(id, 0L))
                .thenComparing(Comparator.naturalOrder()));
        return ids;
    }

    /** Those that have not asked for too long. */
    String[] gone() {
        return waiting.entrySet().stream()
                .filter(entry -> Stay.of(entry.getValue()).until() <= now)
                .map(Map.Entry::getKey)
                .toArray(String[]::new);
    }

    /** {@code number id}. */
    private record Numbered(long number, String id) {
        static Numbered of(String text) {
            int space = text.indexOf(' ');
            return space > 0 && text.substring(0, space).matches("\\d{1,18}")
                    ? new Numbered(Long.parseLong(text.substring(0, space)), text.substring(space + 1))
                    : new Numbered(0, "");
        }
    }

    /** {@code since:until}. */
    private record Stay(long since, long until) {
        static Stay of(String text) {
            return text.matches("\\d{1,18}:\\d{1,18}")
                    ? new Stay(
                            Long.parseLong(text.substring(0, text.indexOf(':'))),
                            Long.parseLong(text.substring(text.indexOf(':') + 1)))
                    : new Stay(0, 0);
        }
    }
}
