package io.holdfast.cli.view;

import io.holdfast.ClientCard;
import io.holdfast.cli.screen.Key;
import io.holdfast.cli.screen.Tone;
import io.holdfast.cli.screen.Width;
import io.holdfast.console.Cycle;
import io.holdfast.console.Holder;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.PermitsInUse;
import io.holdfast.console.ReadWriteInUse;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Decides what {@code top} shows and what its keys do. Does no I/O: it takes a picture and keys, and gives a frame of
 * lines.
 */
public final class TopModel {

    /** The order of the locks. */
    private enum Sort {
        WAIT,
        HELD,
        RATE,
        NAME;

        private Comparator<LockRow> order() {
            return switch (this) {
                case WAIT -> LockRow.BY_URGENCY;
                case HELD ->
                    Comparator.comparing((LockRow row) ->
                                    row.holder().flatMap(Holder::heldFor).orElse(Duration.ZERO))
                            .reversed()
                            .thenComparing(LockRow::name);
                case RATE ->
                    Comparator.comparing(LockRow::acquiredPerSecond).reversed().thenComparing(LockRow::name);
                case NAME -> Comparator.comparing(LockRow::name);
            };
        }

        private Sort next() {
            return switch (this) {
                case WAIT -> HELD;
                case HELD -> RATE;
                case RATE -> NAME;
                case NAME -> WAIT;
            };
        }
    }

    private static final List<String> HELP = List.of(
            "s        sort by: longest wait x waiters, time held, locks a second, name",
            "/        filter by a part of the name, or by a pattern with * and ?; Enter keeps it, Esc drops it",
            "j k      down, up; also the arrows and Page Up, Page Down",
            "c        the cycles: clients that wait for each other's locks; j k and Page Up, Page Down; Esc goes back",
            "Enter    open the chosen lock: its holder, its queue, how to break it; Esc goes back",
            "q        quit; also Ctrl-C",
            "",
            "DEAD         nobody has heard of the holder's client; when its lock is free",
            "CYCLE        a deadlock: threads of several clients wait for each other's locks",
            "possible     clients wait for each other's locks, perhaps by threads that do not hold them",
            "NO EXPIRY    the key never expires: nothing frees it but a release by hand",
            "FOREIGN      the holder is no client of Holdfast",
            "NOT RENEWED  the lease has a fixed length",
            "",
            "LOCKS/S      leases handed out a second, over each client's last card");

    private static final int PAGE = 10;

    private final String store;
    private final String storeOption;
    private @Nullable LockPicture picture;
    private String failure = "";
    private Sort sort = Sort.WAIT;
    private String filter = "";
    private boolean editsFilter;
    private boolean showsHelp;
    private boolean showsCycles;
    private int firstCycle;
    private boolean isOpen;
    private @Nullable String chosen;

    /** @param storeOption as in {@link LockDetails} */
    public TopModel(String store, String storeOption) {
        this.store = store;
        this.storeOption = storeOption;
    }

    /** Takes the picture of a look. */
    public void show(LockPicture seen) {
        picture = seen;
        failure = "";
    }

    /** Takes a look that failed; the last picture stays. */
    public void fail(String sentence) {
        failure = sentence;
    }

    /** Takes a key. Returns false if the user wants to leave. */
    public boolean press(Key key) {
        if (key.kind() == Key.Kind.END) {
            return false;
        }
        if (editsFilter) {
            editFilter(key);
            return true;
        }
        switch (key.kind()) {
            case UP -> move(-1);
            case DOWN -> move(1);
            case PAGE_UP -> move(-PAGE);
            case PAGE_DOWN -> move(PAGE);
            case ENTER -> isOpen = !showsHelp && !showsCycles && chosen().isPresent();
            case ESCAPE, BACKSPACE -> {
                isOpen = false;
                showsCycles = false;
                showsHelp = false;
            }
            default -> {
                return pressCharacter(key.character());
            }
        }
        return true;
    }

    private boolean pressCharacter(char character) {
        switch (character) {
            case 'q' -> {
                return false;
            }
            case 's' -> sort = sort.next();
            case '/' -> editsFilter = true;
            case '?', 'h' -> showsHelp = !showsHelp;
            case 'c' -> {
                showsCycles = !showsCycles;
                firstCycle = 0;
                isOpen = false;
                showsHelp = false;
            }
            case 'j' -> move(1);
            case 'k' -> move(-1);
            default -> {
                // no meaning
            }
        }
        return true;
    }

    private void editFilter(Key key) {
        switch (key.kind()) {
            case CHARACTER -> filter += key.character();
            case BACKSPACE -> filter = filter.substring(0, Math.max(0, filter.length() - 1));
            case ENTER -> editsFilter = false;
            case ESCAPE -> {
                filter = "";
                editsFilter = false;
            }
            default -> {
                // no meaning
            }
        }
    }

    private void move(int by) {
        if (showsCycles) {
            firstCycle = Math.max(0, Math.min(cycles().size() - 1, firstCycle + by));
            return;
        }
        List<LockRow> rows = rows();
        if (!rows.isEmpty()) {
            chosen = rows.get(Math.max(0, Math.min(rows.size() - 1, indexOfChosen(rows) + by)))
                    .name();
        }
    }

    private int indexOfChosen(List<LockRow> rows) {
        for (int i = 0; i < rows.size(); i++) {
            if (rows.get(i).name().equals(chosen)) {
                return i;
            }
        }
        return 0;
    }

    private Optional<LockRow> chosen() {
        List<LockRow> rows = rows();
        return rows.isEmpty() ? Optional.empty() : Optional.of(rows.get(indexOfChosen(rows)));
    }

    private List<LockRow> rows() {
        if (picture == null) {
            return List.of();
        }
        Predicate<String> wanted =
                filter.contains("*") || filter.contains("?") ? Glob.of(filter) : name -> name.contains(filter);
        return picture.locks().stream()
                .filter(row -> wanted.test(row.name()))
                .sorted(sort.order())
                .toList();
    }

    /** Returns everything once, for an output that is no terminal. */
    public List<String> wholeFrame() {
        List<String> lines = new ArrayList<>(heading());
        lines.addAll(LockTable.of(rows()).lines(0, false));
        cycles().forEach(cycle -> {
            lines.add("");
            LockTable.drawing(cycle).forEach(line -> lines.add(Names.printable(line)));
        });
        return lines;
    }

    /** Returns the lines of a terminal of this size. */
    public List<String> frame(int width, int height, boolean colours) {
        List<String> lines = new ArrayList<>();
        heading().forEach(line -> lines.add(Width.cut(line, width)));
        lines.add(Width.cut(keys(), width));
        lines.add("");
        LockPicture seen = picture;
        if (showsHelp) {
            HELP.forEach(line -> lines.add(Width.cut(line, width)));
        } else if (isOpen && seen != null && chosen().isPresent()) {
            new LockDetails(seen, chosen().get(), storeOption)
                    .lines()
                    .forEach(line -> lines.addAll(wrapped(line, width)));
        } else if (showsCycles) {
            addCycles(lines, width, colours);
        } else if (seen != null) {
            addTable(lines, width, Math.max(2, height - lines.size()), colours);
        }
        return lines.subList(0, Math.min(height, lines.size()));
    }

    private List<String> heading() {
        String first = "holdfast top  " + Names.printable(store);
        if (!failure.isEmpty()) {
            return List.of(first, "NO ANSWER: " + Names.printable(failure));
        }
        LockPicture seen = picture;
        if (seen == null) {
            return List.of(first, "looking…");
        }
        long silent = seen.clients().stream().filter(seen::isSilent).count();
        int waiters = seen.locks().stream().mapToInt(LockRow::waiters).sum();
        double rate =
                seen.locks().stream().mapToDouble(LockRow::acquiredPerSecond).sum();
        return List.of(
                first,
                number(seen.clients().size(), "client") + (silent == 0 ? "" : " (" + silent + " silent)") + ", "
                        + held(seen) + " held, " + number(waiters, "waiter") + ", "
                        + LockTable.rate(rate) + " locks/s"
                        + (seen.cycles().isEmpty()
                                ? ""
                                : ", " + number(seen.cycles().size(), "deadlock"))
                        + (seen.possibleCycles().isEmpty()
                                ? ""
                                : ", " + number(seen.possibleCycles().size(), "possible cycle"))
                        + (seen.suspectedCycles().isEmpty() ? "" : ", looking again for a deadlock"));
    }

    /** Returns how many locks are held, and how many permits and halves of read-write locks, if any are. */
    private static String held(LockPicture seen) {
        int permits = seen.locks().stream()
                .flatMap(row -> row.permits().stream())
                .mapToInt(PermitsInUse::used)
                .sum();
        int shares = seen.locks().stream()
                .flatMap(row -> row.readWrite().stream())
                .flatMap(lock -> lock.holders().stream())
                .mapToInt(ReadWriteInUse.Holder::leases)
                .sum();
        return number(seen.clients().stream().mapToInt(ClientCard::heldCount).sum(), "lock")
                + (permits == 0 ? "" : ", " + number(permits, "permit"))
                + (shares == 0 ? "" : ", " + number(shares, "read or write lock"));
    }

    private static String number(int count, String noun) {
        return count + " " + noun + (count == 1 ? "" : "s");
    }

    private String keys() {
        return "[s]ort: " + sort.name().toLowerCase(Locale.ROOT) + "   [/]filter: " + Names.printable(filter)
                + (editsFilter ? "_" : "") + (cycles().isEmpty() ? "" : "   [c]ycles")
                + "   [Enter] open   [?] help   [q]uit";
    }

    private void addTable(List<String> lines, int width, int height, boolean colours) {
        List<LockRow> rows = rows();
        int index = indexOfChosen(rows);
        int from = Math.max(0, Math.min(index - height / 2, rows.size() - (height - 1)));
        List<LockRow> shown = rows.subList(from, Math.min(rows.size(), from + height - 1));
        List<String> coloured = LockTable.of(shown).lines(width - 2, colours);
        List<String> plain = LockTable.of(shown).lines(width - 2, false);
        for (int i = 0; i < coloured.size(); i++) {
            boolean isChosen = i > 0 && from + i - 1 == index;
            lines.add(
                    isChosen
                            ? Tone.CHOSEN.of("> " + Width.pad(plain.get(i), width - 2, false), colours)
                            : "  " + coloured.get(i));
        }
    }

    /** Returns the deadlocks, and after them the cycles that are possibly none. */
    private List<Cycle> cycles() {
        LockPicture seen = picture;
        return seen == null
                ? List.of()
                : Stream.concat(seen.cycles().stream(), seen.possibleCycles().stream())
                        .toList();
    }

    /** Adds the chosen cycle and those after it; the frame ends where the terminal does. */
    private void addCycles(List<String> lines, int width, boolean colours) {
        List<Cycle> all = cycles();
        if (all.isEmpty()) {
            lines.add(Width.cut("no clients wait for each other's locks", width));
        }
        for (int i = Math.min(firstCycle, all.size() - 1); i >= 0 && i < all.size(); i++) {
            Cycle cycle = all.get(i);
            lines.add(Width.cut((i + 1) + " of " + all.size(), width));
            LockTable.drawing(cycle)
                    .forEach(line -> wrapped(Names.printable(line), width)
                            .forEach(part -> lines.add(LockTable.tone(cycle).of(part, colours))));
            lines.add("");
        }
    }

    private static List<String> wrapped(String line, int width) {
        List<String> lines = new ArrayList<>();
        String rest = line;
        while (Width.of(rest) > width && width > 1) {
            String start = Width.cut(rest, width);
            int end = start.length() - 1; // without the ellipsis
            int blank = rest.lastIndexOf(' ', end);
            int cut = blank > end / 2 ? blank : Math.max(1, end);
            lines.add(rest.substring(0, cut));
            rest = "  " + rest.substring(cut).stripLeading();
        }
        lines.add(rest);
        return lines;
    }
}
