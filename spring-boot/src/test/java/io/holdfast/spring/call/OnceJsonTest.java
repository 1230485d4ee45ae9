package io.holdfast.spring.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spring.once.OnceContexts;
import java.lang.reflect.Type;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.util.ClassUtils;

/** What of arguments and results becomes JSON, with the mapper of Boot 4 and of Boot 3. */
class OnceJsonTest {

    enum Unit {
        KG,
        M
    }

    record Part(String name, Set<Unit> units) {}

    record Order(Set<Part> parts, Collection<Unit> all) {}

    /** Has no getters. */
    static final class Hidden {

        @SuppressWarnings({"unused", "FieldCanBeFinal"})
        private int amount = 7;
    }

    record Nothing() {}

    private static void with(Consumer<OnceJson> test) {
        OnceContexts.json(new ApplicationContextRunner()).run(started -> test.accept(OnceJson.of(started)));
    }

    private static <T> Set<T> ordered(T first, T second) {
        return new LinkedHashSet<>(List.of(first, second));
    }

    /** The order of a set of enums differs between processes, as their hash codes do. */
    @Test
    void equal_sets_are_equal_in_any_order() {
        with(json -> {
            Part tea = new Part("tea", ordered(Unit.KG, Unit.M));
            Part sameTea = new Part("tea", ordered(Unit.M, Unit.KG));
            Part rope = new Part("rope", Set.of(Unit.M));
            String one = json.sorted(List.of(new Order(ordered(tea, rope), ordered(Unit.KG, Unit.M))));
            assertThat(json.sorted(List.of(new Order(ordered(rope, sameTea), ordered(Unit.M, Unit.KG)))))
                    .isEqualTo(one);
            assertThat(json.sorted(List.of(new Order(ordered(tea, rope), List.of(Unit.M, Unit.KG)))))
                    .isNotEqualTo(one);
            assertThat(json.sorted(List.of(new Order(Set.of(tea), ordered(Unit.KG, Unit.M)))))
                    .isNotEqualTo(one);
        });
    }

    @Test
    void the_order_of_properties_of_a_tree_does_not_count() {
        ClassLoader loader = OnceJsonTest.class.getClassLoader();
        String three = "tools.jackson.databind.JsonNode";
        Type tree = ClassUtils.resolveClassName(
                ClassUtils.isPresent(three, loader) ? three : "com.fasterxml.jackson.databind.JsonNode", loader);
        with(json -> assertThat(json.sorted(json.read("{\"a\":1,\"b\":{\"c\":2,\"d\":3}}", tree)))
                .isEqualTo(json.sorted(json.read("{\"b\":{\"d\":3,\"c\":2},\"a\":1}", tree))));
    }

    /** Jackson 3 writes {} for it, so each argument would be equal to it, and a result would lose all that it has. */
    @Test
    void an_object_without_properties_is_refused() {
        with(json -> {
            assertThatThrownBy(() -> json.write(new Hidden(), Hidden.class))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no properties");
            assertThatThrownBy(() -> json.sorted(List.of(new Hidden()))).isInstanceOf(IllegalArgumentException.class);
            assertThat(json.read(json.write(new Nothing(), Nothing.class), Nothing.class))
                    .isEqualTo(new Nothing());
        });
    }
}
