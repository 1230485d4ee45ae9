package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import java.time.Duration;
import java.util.List;

/** Checks arguments before a command uses them. */
final class Arguments {

    private Arguments() {}

    /** Refuses an invalid lock name, and one that is not what the user typed: the command would act on another lock. */
    static void checkName(String name) {
        checkText(List.of(name));
        LockClient.checkName(name);
    }

    static void checkInterval(Duration interval, Duration least) {
        if (interval.compareTo(least) < 0) {
            throw new CliException(
                    ExitCode.USAGE,
                    "--interval: " + DurationConverter.format(interval) + " (expected: at least "
                            + DurationConverter.format(least) + ")");
        }
    }

    /** Java reads arguments by the locale, and what has no meaning there cannot be handed on unharmed. */
    static void checkText(List<String> words) {
        if (words.stream().anyMatch(word -> word.indexOf('\ufffd') >= 0)) {
            throw new CliException(
                    ExitCode.USAGE,
                    "an argument is not text in this locale (expected: a locale that fits it, such as LC_ALL=C.UTF-8)");
        }
    }
}
