package io.holdfast.project.docs;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A block of code on a page.
 *
 * @param language what follows the first fence; empty if nothing does
 * @param text the lines between the fences
 */
record CodeBlock(String language, String text) {

    private static final Pattern BLOCK = Pattern.compile("(?ms)^ *```(\\w*)[^\\n]*\\n(.*?)^ *```$");

    /** Returns the blocks of a page, in their order. */
    static List<CodeBlock> of(String page) {
        return BLOCK.matcher(page)
                .results()
                .map(block -> new CodeBlock(block.group(1), block.group(2)))
                .toList();
    }

    /** Returns the code without comments and blanks. */
    String code() {
        String comment = switch (language) {
            case "java", "kotlin", "groovy" -> "(?m)(^|\\s)//.*$|(?s:/\\*\\*.*?\\*/)";
            case "xml" -> "(?s)<!--.*?-->";
            case "sql" -> "(?m)(^|\\s)--\\s.*$";
            default -> "(?m)(^|\\s)#\\s.*$";
        };
        return text.replaceAll(comment, "").replaceAll("\\s", "");
    }
}
