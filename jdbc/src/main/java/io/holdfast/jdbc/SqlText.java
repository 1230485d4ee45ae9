package io.holdfast.jdbc;

import java.util.Locale;
import java.util.Set;

/** Tells the statements that leave the transaction open from those that may end it. */
final class SqlText {

    /** How queries and changes of rows begin. No database ends a transaction by one of these. */
    private static final Set<String> PLAIN = Set.of(
            "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN");

    private SqlText() {}

    /**
     * Returns false for one plain query or change of rows. Returns true for everything else, known or not: DDL, which
     * some databases commit, calls of procedures, {@code COMMIT}, and several statements in one text. A wrong true costs
     * a check, and a wrong false a check that is missing.
     */
    static boolean mayEndTransaction(String sql) {
        int begin = begin(sql);
        int end = begin;
        while (end < sql.length() && Character.isLetter(sql.charAt(end))) {
            end++;
        }
        return !PLAIN.contains(sql.substring(begin, end).toUpperCase(Locale.ROOT)) || hasMoreAfterSemicolon(sql);
    }

    /** Returns the index of the first word. Stops at a comment that the databases read in different ways. */
    private static int begin(String sql) {
        int i = 0;
        while (i < sql.length()) {
            if (Character.isWhitespace(sql.charAt(i)) || sql.charAt(i) == '(') {
                i++;
            } else if (sql.startsWith("--", i)) {
                int end = sql.indexOf('\n', i);
                i = end < 0 ? sql.length() : end + 1;
            } else if (sql.startsWith("/*", i)) {
                int end = sql.indexOf("*/", i + 2);
                // PostgreSQL has comments within comments, and MySQL runs what is in a comment with an exclamation
                // mark.
                if (end < 0 || sql.substring(i + 2, end).matches("(?s)M?!.*|.*/\\*.*")) {
                    return i;
                }
                i = end + 2;
            } else {
                return i;
            }
        }
        return i;
    }

    /** A semicolon within a literal counts too. */
    private static boolean hasMoreAfterSemicolon(String sql) {
        int semicolon = sql.indexOf(';');
        return semicolon >= 0 && !sql.substring(semicolon + 1).isBlank();
    }
}
