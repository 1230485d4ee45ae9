package io.holdfast.cli.screen;

import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.List;

/**
 * Columns with a heading, as {@code kubectl get} prints them. On a terminal, the widest column that may be cut is cut
 * until the lines fit, and columns that are extra are left out where that is not enough; elsewhere everything is whole.
 * Escapes control characters in all cells.
 */
public final class Table {

    private static final String GAP = "   ";

    /** Without a terminal, a longer cell is whole, and moves only the rest of its own line. */
    private static final int PADDED_MAX = 80;

    /** How the cells of a column are shown. */
    public enum Kind {
        /** Cells may lose their end. */
        TEXT(12),
        /** Cells may lose their middle: the end of a client's title is its process id. */
        TITLE(22),
        /** Cells are whole. */
        WHOLE(Integer.MAX_VALUE),
        /** Cells are whole, and aligned to the right. */
        NUMBER(Integer.MAX_VALUE),
        /** As {@link #NUMBER}, and the column is left out where it has no room. */
        EXTRA(Integer.MAX_VALUE);

        private final int cutToMin;

        Kind(int cutToMin) {
            this.cutToMin = cutToMin;
        }
    }

    /** One cell. */
    public record Cell(String text, Tone tone) {

        /** Returns a cell in the plain tone. */
        public static Cell of(Object text) {
            return new Cell(text.toString(), Tone.PLAIN);
        }
    }

    private static final class Column {

        private final Kind kind;
        private final List<Cell> cells = new ArrayList<>(); // with the heading
        private int width;

        private Column(String heading, Kind kind) {
            this.kind = kind;
            add(new Cell(heading, Tone.STRONG));
        }

        private void add(Cell cell) {
            Cell printable = new Cell(Names.printable(cell.text()), cell.tone());
            cells.add(printable);
            width = Math.max(width, Width.of(printable.text()));
        }

        private boolean isNumber() {
            return kind == Kind.NUMBER || kind == Kind.EXTRA;
        }
    }

    private final List<Column> columns = new ArrayList<>();

    /** Adds a column; all columns come before the first row. */
    public Table column(String heading, Kind kind) {
        columns.add(new Column(heading, kind));
        return this;
    }

    /** Adds a row with one cell for each column. */
    public void add(Cell... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(cells.length + " cells (expected: " + columns.size() + ")");
        }
        for (int i = 0; i < cells.length; i++) {
            columns.get(i).add(cells[i]);
        }
    }

    /**
     * Returns the heading and the rows as lines.
     *
     * @param most the width that the lines may have; 0 if it does not matter
     */
    public List<String> lines(int most, boolean colours) {
        List<Column> shown = new ArrayList<>(columns);
        int[] widths = widths(shown, most);
        for (int i = shown.size() - 1; i >= 0 && most > 0 && total(widths) > most; i--) {
            if (shown.get(i).kind == Kind.EXTRA) {
                shown.remove(i);
                widths = widths(shown, most);
            }
        }
        List<String> lines = new ArrayList<>();
        for (int row = 0; row < shown.get(0).cells.size(); row++) {
            lines.add(line(shown, row, widths, most > 0 ? most : Integer.MAX_VALUE, colours));
        }
        return lines;
    }

    private static int[] widths(List<Column> shown, int most) {
        int[] widths = shown.stream()
                .mapToInt(column -> most > 0 ? column.width : Math.min(column.width, PADDED_MAX))
                .toArray();
        while (most > 0 && total(widths) > most) {
            int widest = -1;
            for (int i = 0; i < widths.length; i++) {
                if (widths[i] > shown.get(i).kind.cutToMin && (widest < 0 || widths[i] > widths[widest])) {
                    widest = i;
                }
            }
            if (widest < 0) {
                break;
            }
            widths[widest]--;
        }
        return widths;
    }

    private static int total(int[] widths) {
        int total = GAP.length() * (widths.length - 1);
        for (int width : widths) {
            total += width;
        }
        return total;
    }

    /** A line that is too wide all the same loses its end. */
    private static String line(List<Column> shown, int row, int[] widths, int most, boolean colours) {
        StringBuilder line = new StringBuilder();
        int left = most;
        for (int i = 0; i < widths.length && left > 0; i++) {
            Column column = shown.get(i);
            Cell cell = column.cells.get(row);
            int width = Math.min(widths[i], left);
            String fitting = most == Integer.MAX_VALUE
                    ? cell.text()
                    : column.kind == Kind.TITLE ? Width.cutMiddle(cell.text(), width) : Width.cut(cell.text(), width);
            String text = Width.pad(fitting, width, column.isNumber());
            boolean last = i == widths.length - 1;
            line.append(cell.tone().of(last ? text.stripTrailing() : text, colours));
            left -= width;
            if (!last) {
                line.append(GAP, 0, Math.min(GAP.length(), Math.max(0, left)));
                left -= GAP.length();
            }
        }
        return line.toString().stripTrailing();
    }
}
