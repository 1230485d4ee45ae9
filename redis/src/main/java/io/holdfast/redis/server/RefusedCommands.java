package io.holdfast.redis.server;

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
