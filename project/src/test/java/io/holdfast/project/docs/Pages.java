package io.holdfast.project.docs;

import static java.nio.file.FileVisitResult.CONTINUE;
import static java.nio.file.FileVisitResult.SKIP_SUBTREE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;

/** The Markdown pages of the project. */
final class Pages {

    /** The folder with all modules. */
    static final Path ROOT = root();

    private Pages() {}

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** Returns all pages, relative to {@link #ROOT}. */
    static List<Path> all() {
        return files(".md");
    }

    /** Returns the files of all modules whose name has this end, without what builds make and change meanwhile. */
    static List<Path> files(String end) {
        List<Path> files = new ArrayList<>();
        try {
            Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                    String name = folder.getFileName().toString();
                    return name.equals("target") || name.equals(".git") ? SKIP_SUBTREE : CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    if (file.toString().endsWith(end)) {
                        files.add(ROOT.relativize(file));
                    }
                    return CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Collections.sort(files);
        return files;
    }

    static String text(Path file) {
        try {
            return Files.readString(ROOT.resolve(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the targets of all links and pictures, as they are written. */
    static List<String> targets(Path page) {
        List<String> targets = new ArrayList<>();
        visit(page, new AbstractVisitor() {
            @Override
            public void visit(Link link) {
                targets.add(link.getDestination());
                visitChildren(link);
            }

            @Override
            public void visit(Image image) {
                targets.add(image.getDestination());
            }
        });
        return targets;
    }

    /** Returns the anchors that GitHub gives to the headings. */
    static Set<String> anchors(Path page) {
        Set<String> anchors = new HashSet<>();
        visit(page, new AbstractVisitor() {
            @Override
            public void visit(Heading heading) {
                String anchor = anchor(plain(heading));
                String unique = anchor;
                for (int i = 1; !anchors.add(unique); i++) {
                    unique = anchor + "-" + i;
                }
            }
        });
        return anchors;
    }

    /** Returns the anchor that GitHub gives to the first heading with this text. */
    static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    /** Returns the text of a page without its code and without the targets of its links. */
    static String prose(Path page) {
        StringBuilder prose = new StringBuilder();
        visit(page, new AbstractVisitor() {
            @Override
            public void visit(Text text) {
                prose.append(text.getLiteral());
            }

            @Override
            public void visit(Code code) {
                prose.append('_'); // `Lease`s is no word
            }

            @Override
            public void visit(SoftLineBreak line) {
                prose.append('\n');
            }

            @Override
            public void visit(Paragraph paragraph) {
                visitChildren(paragraph);
                prose.append('\n');
            }

            @Override
            public void visit(Heading heading) {
                visitChildren(heading);
                prose.append('\n');
            }
        });
        return prose.toString();
    }

    private static String plain(Node node) {
        StringBuilder plain = new StringBuilder();
        node.accept(new AbstractVisitor() {
            @Override
            public void visit(Text text) {
                plain.append(text.getLiteral());
            }

            @Override
            public void visit(Code code) {
                plain.append(code.getLiteral());
            }

            @Override
            public void visit(SoftLineBreak line) {
                plain.append(' ');
            }
        });
        return plain.toString();
    }

    private static void visit(Path page, AbstractVisitor visitor) {
        Parser.builder().build().parse(text(page)).accept(visitor);
    }
}
