package io.holdfast.cli.console;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Guesses what a user meant by a mistyped word. */
public final class Similar {

    private Similar() {}

    /** Returns the known word that a few slips of the fingers turn into this one; empty if none is so near. */
    public static Optional<String> to(String typed, Collection<String> known) {
        int most = typed.length() <= 4 ? 1 : 2;
        return known.stream()
                .filter(word -> slips(typed, word) <= most)
                .min(Comparator.comparingInt(word -> slips(typed, word)));
    }

    /** Returns how many letters were left out, added, mistaken or swapped with their neighbors. */
    private static int slips(String typed, String word) {
        int[][] cost = new int[typed.length() + 1][word.length() + 1];
        for (int i = 0; i <= typed.length(); i++) {
            for (int j = 0; j <= word.length(); j++) {
                if (i == 0 || j == 0) {
                    cost[i][j] = i + j;
                    continue;
                }
                int mistaken = typed.charAt(i - 1) == word.charAt(j - 1) ? 0 : 1;
                int least = Math.min(cost[i - 1][j - 1] + mistaken, 1 + Math.min(cost[i - 1][j], cost[i][j - 1]));
                boolean swapped = i > 1
                        && j > 1
                        && typed.charAt(i - 1) == word.charAt(j - 2)
                        && typed.charAt(i - 2) == word.charAt(j - 1);
                cost[i][j] = swapped ? Math.min(least, cost[i - 2][j - 2] + 1) : least;
            }
        }
        return cost[typed.length()][word.length()];
    }
}
