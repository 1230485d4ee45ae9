package io.holdfast;

import io.holdfast.spi.Names;
import java.util.Collection;
import java.util.stream.Collectors;

/** Writes names and holders in messages: in quotes, so that a reader sees where they begin and end, with
 * control characters written out. */
final class Quoted {

    private Quoted() {}

    static String name(String name) {
        return '"' + Names.printable(name) + '"';
    }

    static String names(Collection<String> names) {
        return names.stream().map(Quoted::name).collect(Collectors.joining(", "));
    }

    /** A holder id in quotes; a description of what else holds, which has blanks, without. */
    static String holder(String holder) {
        return holder.indexOf(' ') < 0 ? name(holder) : Names.printable(holder);
    }
}
