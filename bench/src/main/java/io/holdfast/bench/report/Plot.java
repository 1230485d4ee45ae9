package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A line chart as SVG: one line for each peer over the sizes of a case, with a bar from minimum to maximum at each
 * point.
 */
public final class Plot {

    private record Point(double x, double low, double middle, double high) {}

    private static final int WIDTH = 720;
    private static final int HEIGHT = 420;
    private static final int LEFT = 70;
    private static final int TOP = 46;
    private static final int RIGHT = WIDTH - 150;
    private static final int BOTTOM = HEIGHT - 54;
    private static final List<String> COLORS = List.of(
            "#0b6e4f", "#c1121f", "#3a5a9b", "#e09f3e", "#7b2d8b", "#5c5c5c", "#8d6346", "#1b9aaa", "#d16ba5",
            "#6a994e");

    private final String title;
    private final String xTitle;
    private final Map<String, List<Point>> lines = new LinkedHashMap<>();
    private final boolean logarithmic;

    private Plot(String title, String xTitle, boolean logarithmic) {
        this.title = title;
        this.xTitle = xTitle;
        this.logarithmic = logarithmic;
    }

    /** Draws one figure of one case. Returns null if the case has no such figure. */
    public static String of(
            Results results, String caseId, String figure, String title, String xTitle, boolean logarithmic) {
        Plot plot = new Plot(title, xTitle, logarithmic);
        for (String peer : results.peers(caseId)) {
            List<Point> points = new ArrayList<>();
            for (int size : results.sizes(caseId)) {
                List<Double> values = results.values(caseId, size, peer, figure).stream()
                        .filter(value -> !value.isNaN() && !value.isInfinite())
                        .toList();
                if (!values.isEmpty()) {
                    double low = values.stream().min(Double::compare).orElseThrow();
                    double high = values.stream().max(Double::compare).orElseThrow();
                    points.add(new Point(size, low, Results.median(values), high));
                }
            }
            if (!points.isEmpty()) {
                plot.lines.put(peer, points);
            }
        }
        return plot.lines.isEmpty() ? "" : plot.svg();
    }

    private String svg() {
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"13\">%n"
                        + "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>%n",
                WIDTH,
                HEIGHT,
                WIDTH,
                HEIGHT));
        text(svg, LEFT, 24, "start", "15", title);
        text(svg, (LEFT + RIGHT) / 2.0, HEIGHT - 14, "middle", "13", xTitle);
        for (double tick : ticks()) {
            double y = y(tick);
            line(svg, LEFT, y, RIGHT, y, "#dddddd", 1);
            text(svg, LEFT - 8, y + 4, "end", "12", Numbers.text(tick));
        }
        lines.values().stream().flatMap(List::stream).map(Point::x).distinct().forEach(x -> {
            line(svg, x(x), BOTTOM, x(x), BOTTOM + 5, "#333333", 1);
            text(svg, x(x), BOTTOM + 20, "middle", "12", Numbers.text(x));
        });
        line(svg, LEFT, BOTTOM, RIGHT, BOTTOM, "#333333", 1);
        int index = 0;
        for (Map.Entry<String, List<Point>> entry : lines.entrySet()) {
            draw(svg, entry.getKey(), entry.getValue(), index++);
        }
        return svg.append("</svg>\n").toString();
    }

    private void draw(StringBuilder svg, String peer, List<Point> points, int index) {
        String color = COLORS.get(index % COLORS.size());
        int width = peer.equals("holdfast") ? 3 : 2;
        for (int i = 0; i < points.size(); i++) {
            Point point = points.get(i);
            if (i > 0) {
                Point before = points.get(i - 1);
                line(svg, x(before.x()), y(before.middle()), x(point.x()), y(point.middle()), color, width);
            }
            line(svg, x(point.x()), y(point.low()), x(point.x()), y(point.high()), color, 1);
            svg.append(String.format(
                    Locale.ROOT,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>%n",
                    x(point.x()),
                    y(point.middle()),
                    color));
        }
        double y = TOP + 10 + 22.0 * index;
        line(svg, RIGHT + 14, y, RIGHT + 36, y, color, width);
        text(svg, RIGHT + 42, y + 4, "start", "13", peer);
    }

    private double x(double value) {
        double least = extreme(false, true);
        double most = extreme(true, true);
        double part = most == least ? 0.5 : log2(value / least) / log2(most / least);
        return LEFT + 24 + part * (RIGHT - LEFT - 48);
    }

    private double y(double value) {
        List<Double> ticks = ticks();
        double most = ticks.get(ticks.size() - 1);
        double least = ticks.get(0);
        double part = logarithmic
                ? log2(Math.max(value, least) / least) / log2(most / least)
                : (value - least) / (most - least);
        return BOTTOM - part * (BOTTOM - TOP);
    }

    private List<Double> ticks() {
        double most = extreme(true, false);
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            double least = Math.pow(10, Math.floor(Math.log10(Math.max(1e-3, extreme(false, false)))));
            for (double tick = least; ; tick *= 10) {
                ticks.add(tick);
                if (tick >= most && ticks.size() > 1) {
                    return ticks;
                }
            }
        }
        double step = Math.pow(10, Math.floor(Math.log10(Math.max(1e-3, most))));
        step = most / step < 2 ? step / 4 : most / step < 5 ? step / 2 : step;
        for (double tick = 0; ; tick += step) {
            ticks.add(tick);
            if (tick >= most && ticks.size() > 1) {
                return ticks;
            }
        }
    }

    private double extreme(boolean most, boolean ofX) {
        return lines.values().stream()
                .flatMap(List::stream)
                .map(point -> ofX ? point.x() : most ? point.high() : point.low())
                .reduce(most ? Math::max : Math::min)
                .orElse(1.0);
    }

    private static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    private static void line(StringBuilder svg, double x1, double y1, double x2, double y2, String color, int width) {
        svg.append(String.format(
                Locale.ROOT,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%d\"/>%n",
                x1,
                y1,
                x2,
                y2,
                color,
                width));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String size, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%s\">%s</text>%n",
                x,
                y,
                anchor,
                size,
                text.replace("&", "&amp;").replace("<", "&lt;")));
    }
}
