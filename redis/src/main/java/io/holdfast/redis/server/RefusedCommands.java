package io.holdfast.redis.server;

import io.holdfast.spi.StoreException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The commands that a server refused for good when they were tried.
 *
 * @param errors the server's error to each command, by the command's name in lower case, in the order of the trials
 */
public record RefusedCommands(Map<String, String> errors) {

    /**
     * Returns those of the refused commands that were refused for good: what a replica or a full server refuses may
     * pass.
     *
     * @param tried the refused commands, each followed by the server's error
     */
    public static RefusedCommands forGood(List<String> tried, RedisErrors errors) {
        Map<String, String> refused = new LinkedHashMap<>();
        for (int i = 0; i < tried.size(); i += 2) {
            String said = tried.get(i + 1);
            if (errors.refused(said, null).outcome() == StoreException.Outcome.FATAL) {
                refused.put(tried.get(i), said);
            }
        }
        return new RefusedCommands(refused);
    }

    public boolean isEmpty() {
        return errors.isEmpty();
    }

    /** Returns the names of the commands that the server does not have, in upper case. No grant gives them. */
    List<String> absent() {
        return errors.entrySet().stream()
                .filter(refused -> RedisErrors.isUnknownCommand(refused.getValue()))
                .map(refused -> refused.getKey().toUpperCase(Locale.ROOT))
                .toList();
    }

    /** Returns all the commands, as {@code ACL SETUSER} takes them. */
    String rights() {
        return errors.keySet().stream().map(command -> "+" + command).collect(Collectors.joining(" "));
    }
}
