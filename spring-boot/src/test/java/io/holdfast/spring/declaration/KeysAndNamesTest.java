package io.holdfast.spring.declaration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Names and keys that would give all calls one lock, or another lock than meant, are refused. */
class KeysAndNamesTest {

    public record User(@Nullable String id, @Nullable String name) {}

    static class NameIsExpression {
        @Locked("#orderId")
        public void method(long orderId) {}
    }

    static class NameIsTemplate {
        @Locked("order:#{#a}")
        public void method(long a) {}
    }

    static class NameIsTemplateOfTwo {
        @Locked("order:#{#a}:#{#b}")
        public void method(long a, long b) {}
    }

    static class NameIsConcatenation {
        @Locked("'order:' + #orderId")
        public void method(long orderId) {}
    }

    static class NameNamesParameter {
        @Locked("order#id")
        public void method(long id) {}
    }

    static class NameHasUnknownPlaceholder {
        @Locked("order:${orderId}")
        public void method(long orderId) {}
    }

    static class KeyIsNoVariable {
        @Locked(name = "order", key = "orderId")
        public void method(long orderId) {}
    }

    static class KeyOfNoVariable {
        @Locked(name = "order", key = "'a' + user.id")
        public void method(User user) {}
    }

    static class KeyInAnArgument {
        @Locked(name = "order", key = "T(String).valueOf(orderId)")
        public void method(long orderId) {}
    }

    static class KeyIsUnknownMethod {
        @Locked(name = "order", key = "today()")
        public void method(long orderId) {}
    }

    static class ConditionIsNoVariable {
        @Locked(name = "order", condition = "orderId > 1")
        public void method(long orderId) {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            NameIsExpression          | constant            | name = "order.refund", key = "#orderId"
            NameIsTemplate            | constant            | name = "order", key = "#a"
            NameIsTemplateOfTwo       | constant            | name = "order", key = {"#a", "#b"}
            NameIsConcatenation       | constant            | name = "order", key = "#orderId"
            NameNamesParameter        | constant            | name = "order", key = "#id"
            NameHasUnknownPlaceholder | ${orderId}          | a property that is set
            KeyIsNoVariable           | "orderId" is neither| "#orderId"
            KeyOfNoVariable           | "user" is neither   | "#user"
            KeyInAnArgument           | "orderId" is neither| "#orderId"
            KeyIsUnknownMethod        | "today" is no method| "@bean.today()"
            ConditionIsNoVariable     | condition           | "#orderId"
            """)
    void a_declaration_that_does_not_lock_what_it_seems_to_stops_the_start(String bean, String what, String wayOut)
            throws Exception {
        Contexts.memory("refused")
                .withBean(Class.forName(KeysAndNamesTest.class.getName() + "$" + bean))
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("." + "method(")
                        .hasMessageContaining(what)
                        .hasMessageContaining(wayOut));
    }

    public static class Work {

        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        private List<String> held() {
            return client.localLocks().stream().map(LocalLock::name).toList();
        }

        /** A constant: there is no parameter {@code refund}. */
        @Locked("OrderService#refund")
        public List<String> styleOfJavadoc(long orderId) {
            return held();
        }

        @Locked(name = "map", key = "#map[id] + #map['id'] + #users.?[id == 'a'].![name]")
        public List<String> elements(Map<String, String> map, List<User> users) {
            return held();
        }

        @Locked(name = "root", key = "methodName + #root.args[0] + args[0]")
        public List<String> ofRoot(String a) {
            return held();
        }

        @Locked(name = "named", key = "{id: #a}['id'] + #a?.length()")
        public List<String> inlineMap(String a) {
            return held();
        }

        @Locked(name = "sum", key = "#a + 1")
        public List<String> sum(@Nullable Long a) {
            return held();
        }

        @Locked(name = "user", key = "#user.id + ':' + #user.name")
        public List<String> concatenated(User user) {
            return held();
        }

        @Locked(name = "user", key = "('u' + #user.name).toLowerCase()")
        public List<String> withinMethod(User user) {
            return held();
        }

        @Locked(name = "user", key = "T(java.util.Objects).toString(#user.id + '-' + #user.name)")
        public List<String> withinArgument(User user) {
            return held();
        }

        @Locked(name = "user", key = "#user.id == null ? 'new-' + #user.name : #user.id")
        public List<String> withinTernary(User user) {
            return held();
        }

        @Locked(name = "user", key = "{'by-' + #user.id, 'by-' + #user.name}")
        public List<String> withinList(User user) {
            return held();
        }

        @Locked(name = "user", key = "#user.name ?: 'no-' + #user.id")
        public List<String> withinElvis(User user) {
            return held();
        }

        @Locked(name = "user", key = "'id-' + #object")
        public List<String> object(@Nullable Object object) {
            return held();
        }

        @Locked(name = "fails", key = "#user.name.length()")
        public List<String> fault(User user) {
            return held();
        }

        @Locked(name = "fails", condition = "#user.name.length() > 1")
        public List<String> faultOfCondition(User user) {
            return held();
        }

        @Locked(name = "fails", key = "#list.get(7)")
        public List<String> faultOfTheirs(List<String> list) {
            return held();
        }
    }

    @Test
    void keys_and_names_that_are_meant_so_work() {
        run("meant", work -> {
            assertThat(work.styleOfJavadoc(1)).containsExactly("OrderService#refund");
            assertThat(work.elements(Map.of("id", "m"), List.of(new User("a", "A"))))
                    .containsExactly("map:mmA");
            assertThat(work.ofRoot("x")).containsExactly("root:ofRootxx");
            assertThat(work.inlineMap("xy")).containsExactly("named:xy2");
            assertThat(work.sum(1L)).containsExactly("sum:2");
            User user = new User("1", "ada");
            assertThat(work.concatenated(user)).containsExactly("user:1:ada");
            assertThat(work.withinMethod(user)).containsExactly("user:uada");
            assertThat(work.withinArgument(user)).containsExactly("user:1-ada");
            assertThat(work.withinTernary(user)).containsExactly("user:1");
            assertThat(work.withinTernary(new User(null, "ada"))).containsExactly("user:new-ada");
            assertThat(work.withinElvis(user)).containsExactly("user:ada");
            assertThat(work.withinList(user)).containsExactly("user:by-1", "user:by-ada");
        });
    }

    @Test
    void a_null_part_of_a_concatenation_is_refused() {
        run("null", work -> {
            User nobody = new User(null, null);
            refused(() -> work.concatenated(nobody), "concatenated(User)", "#user.id");
            refused(() -> work.concatenated(new User("1", null)), "concatenated(User)", "#user.name");
            refused(() -> work.withinMethod(nobody), "withinMethod(User)", "#user.name");
            refused(() -> work.withinArgument(new User("1", null)), "withinArgument(User)", "#user.name");
            refused(() -> work.withinTernary(nobody), "withinTernary(User)", "#user.name");
            refused(() -> work.withinElvis(nobody), "withinElvis(User)", "#user.id");
            refused(() -> work.withinList(new User("1", null)), "withinList(User)", "#user.name");
            refused(() -> work.sum(null), "sum(Long)", "#a");
            refused(() -> work.object(null), "object(Object)", "#object");
            refused(() -> work.object(Optional.empty()), "object(Object)", "#object");
            assertThat(work.object(Optional.of(5))).containsExactly("user:id-5");
            assertThatThrownBy(() -> work.object(new Object()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no toString() of its own");
        });
    }

    /** Each process would have a lock of its own. */
    @Test
    void a_part_whose_order_differs_between_processes_is_refused() {
        run("order", work -> {
            for (Object part : List.of(
                    Set.of(1, 2),
                    new HashSet<>(List.of("a", "b")),
                    Map.of("a", 1, "b", 2),
                    List.of(Set.of(1, 2)),
                    Map.of("a", new Object()))) {
                assertThatThrownBy(() -> work.object(part))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("#object");
            }
            assertThatThrownBy(() -> work.object(Set.of(1, 2)))
                    .hasMessageContaining("is a set in no order, so its text differs between processes");
            assertThat(work.object(new TreeSet<>(Set.of(2, 1)))).hasSize(1);
            assertThat(work.object(new LinkedHashSet<>(List.of(2, 1)))).hasSize(1);
            assertThat(work.object(Map.of("a", 1))).hasSize(1);
        });
    }

    private static void refused(Runnable call, String method, String part) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("@Locked(name = ")
                .hasMessageContaining(method)
                .hasMessageContaining("the part " + part + " is null");
    }

    @Test
    void a_fault_of_an_expression_names_the_method_the_annotation_and_the_part() {
        run("fault", work -> {
            User nobody = new User(null, null);
            assertThatThrownBy(() -> work.fault(nobody))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("@Locked(name = \"fails\")")
                    .hasMessageContaining("fault(User)")
                    .hasMessageContaining("key \"#user.name.length()\"");
            assertThatThrownBy(() -> work.faultOfCondition(nobody))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("faultOfCondition(User)")
                    .hasMessageContaining("condition \"#user.name.length() > 1\"");
            // The application's own exception passes with its type, so that its handlers find it.
            assertThatThrownBy(() -> work.faultOfTheirs(List.of()))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .satisfies(e -> assertThat(e.getSuppressed())
                            .singleElement()
                            .asString()
                            .contains("@Locked(name = \"fails\")", "faultOfTheirs(List)", "key \"#list.get(7)\""));
        });
    }

    private static void run(String store, java.util.function.Consumer<Work> test) {
        Contexts.memory("keys-" + store).withBean(Work.class).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(Work.class));
        });
    }
}
