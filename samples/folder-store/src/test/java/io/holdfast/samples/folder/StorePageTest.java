package io.holdfast.samples.folder;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockStore;
import io.holdfast.testkit.contract.LockStoreContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares docs/a-store-of-your-own.md with the methods of a store and the abilities of the contract. */
class StorePageTest {

    private final String page = read(Path.of("..", "..", "docs", "a-store-of-your-own.md"));

    @Test
    void thePageHasTheMethodsOfAStore() {
        assertThat(namesIn("Which methods?"))
                .containsExactlyInAnyOrderElementsOf(methods(method -> Modifier.isAbstract(method.getModifiers())));
        assertThat(namesIn("What may be left out?")).containsExactlyInAnyOrderElementsOf(methods(Method::isDefault));
    }

    @Test
    void thePageHasTheAbilitiesOfTheContract() {
        Set<String> abilities = Stream.<Class<?>>iterate(LockStoreContract.class, Class::getSuperclass)
                .takeWhile(type -> type != Object.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()))
                .filter(method ->
                        Modifier.isProtected(method.getModifiers()) && method.getReturnType() == boolean.class)
                .map(Method::getName)
                .collect(Collectors.toSet());
        assertThat(namesIn("Run the contract")).containsExactlyInAnyOrderElementsOf(abilities);
    }

    private static List<String> methods(Predicate<Method> wanted) {
        return Arrays.stream(LockStore.class.getDeclaredMethods())
                .filter(method -> !method.isSynthetic() && wanted.test(method))
                .map(Method::getName)
                .toList();
    }

    /** Returns the names in the first column of the tables of a section. */
    private List<String> namesIn(String section) {
        String text = page.substring(page.indexOf("\n## " + section));
        int end = text.indexOf("\n## ", 1);
        return Pattern.compile("(?m)^\\| (`[^|]+`) \\|")
                .matcher(end < 0 ? text : text.substring(0, end))
                .results()
                .flatMap(row -> Arrays.stream(row.group(1).split(", ")))
                .map(name -> name.replace("`", ""))
                .toList();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
