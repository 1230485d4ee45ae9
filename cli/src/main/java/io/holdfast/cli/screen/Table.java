package io.holdfast.cli.screen;

import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Columns with a heading, as {@code kubectl get} prints them. On a terminal, the widest column that may be cut is cut
 * until the lines fit; elsewhere nothing is cut. Escapes control characters in all cells.
 */
public final class Table {

    private static final String GAP = "   ";
    private static final int CUT_TO_MIN = 8;

    /**
     * A column.
     *
     * @param isNumber whether its cells are aligned to the right
     * @param mayBeCut whether its cells may lose their end
     */
    public record Column(String heading, boolean isNumber, boolean mayBeCut) {

        /** Returns a column whose cells may lose their end. */
        public static Column text(String heading) {
            return new Column(heading, false, true);
        }

        /** Returns a column whose cells are always whole. */
        public static Column whole(String heading) {
            return new Column(heading, false, false);
        }

        /** Returns a column of numbers. */
        public static Column number(String heading) {
            return new Column(heading, true, false);
        }
    }

    /** One cell. */
    public record Cell(String text, Tone tone) {

        /** Returns a cell in the plain tone. */
        public static Cell of(Object text) {
            return new Cell(text.toString(), Tone.PLAIN);
        }
    }

    private final List<Column> columns;
    private final List<List<Cell>> rows = new ArrayList<>();

    public Table(Column... columns) {
        this.columns = List.of(columns);
    }

    /** Adds a row with one cell for each column. */
    public void add(Cell... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(cells.length + " cells (expected: " + columns.size() + ")");
        }
        rows.add(Arrays.stream(cells)
                .map(cell -> new Cell(Names.printable(cell.text()), cell.tone()))
                .toList());
    }

    /**
     * Returns the heading and the rows as lines.
     *
     * @param most the width that the lines may have; 0 if it does not matter
     */
    public List<String> lines(int most, boolean colours) {
        int[] widths = widths(most);
        List<String> lines = new ArrayList<>();
        lines.add(line(
                columns.stream()
                        .map(column -> new Cell(column.heading(), Tone.STRONG))
                        .toList(),
                widths,
                most,
                colours));
        rows.forEach(row -> lines.add(line(row, widths, most, colours)));
        return lines;
    }

    private int[] widths(int most) {
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            int column = i;
            widths[i] = Math.max(
                    Width.of(columns.get(i).heading()),
                    rows.stream()
                            .mapToInt(row -> Width.of(row.get(column).text()))
                            .max()
                            .orElse(0));
        }
        int over = Arrays.stream(widths).sum() + GAP.length() * (widths.length - 1) - most;
        while (most > 0 && over > 0) {
            int widest = -1;
            for (int i = 0; i < widths.length; i++) {
                if (columns.get(i).mayBeCut() && (widest < 0 || widths[i] > widths[widest])) {
                    widest = i;
                }
            }
            if (widest < 0 || widths[widest] <= CUT_TO_MIN) {
                break;
            }
            widths[widest]--;
            over--;
        }
        return widths;
    }

    /** A line that is too wide all the same loses its end. */
    private String line(List<Cell> cells, int[] widths, int most, boolean colours) {
        StringBuilder line = new StringBuilder();
        int used = 0;
        for (int i = 0; i < widths.length; i++) {
            boolean last = i == widths.length - 1;
            int left = most > 0 ? most - used : Integer.MAX_VALUE;
            if (left <= 0) {
                break;
            }
            String text = Width.cut(cells.get(i).text(), Math.min(widths[i], left));
            String padded = last && !columns.get(i).isNumber()
                    ? text
                    : Width.pad(text, Math.min(widths[i], left), columns.get(i).isNumber());
            line.append(cells.get(i).tone().of(padded, colours));
            used += Width.of(padded);
            if (!last) {
                String gap = GAP.substring(0, Math.min(GAP.length(), Math.max(0, left - Width.of(padded))));
                line.append(gap);
                used += gap.length();
            }
        }
        return line.toString().stripTrailing();
    }
}
