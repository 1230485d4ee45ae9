package io.holdfast.demo.scenes;

import java.io.PrintWriter;

/**
 * One line for each scene. On a terminal it changes in place while the scene is played; elsewhere only what does not
 * change any more is printed.
 */
final class Progress {

    /** Wider lines would wrap on an ordinary terminal, and a wrapped line cannot be rewritten. */
    private static final int WIDTH = 79;

    private final PrintWriter out;
    private final boolean live;

    Progress(PrintWriter out, boolean live) {
        this.out = out;
        this.live = live;
    }

    Line line(String name) {
        return new Line(name);
    }

    /** The line of one scene. Confined to the thread that plays. */
    final class Line {

        private final String name;
        private String step = "";
        private String shown = "";

        private Line(String name) {
            this.name = name;
        }

        /** The scene has come to this point. */
        void step(String text) {
            step = text;
            if (live) {
                show("");
            } else {
                print(text);
            }
        }

        /** What goes on in the present step; terminals only. */
        void show(String detail) {
            if (live) {
                rewrite(label() + (detail.isEmpty() ? step : detail));
            }
        }

        /** The last word; the line stays. */
        void end(boolean held) {
            if (live) {
                rewrite("");
                out.print("\r");
            }
            print(held ? "ok" : "FAILED");
        }

        private void print(String text) {
            out.println(label() + text);
            out.flush();
        }

        private String label() {
            return String.format("%-12s  ", name);
        }

        private void rewrite(String text) {
            String fitting = text.length() > WIDTH ? text.substring(0, WIDTH) : text;
            if (!fitting.equals(shown)) {
                out.print("\r" + fitting + " ".repeat(Math.max(0, shown.length() - fitting.length())));
                out.flush();
                shown = fitting;
            }
        }
    }
}
