package io.holdfast.spring;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The rooms know only those below: startup, call, declaration, API. Above them are {@link LockedConfiguration}, which
 * assembles them, and {@code boot}. No module descriptor hides the rooms, because Spring Boot runs on the class path.
 */
class RoomsTest {

    private static final String API = "io.holdfast.spring";

    private static final DescribedPredicate<JavaClass> ASSEMBLY = belongToAnyOf(LockedConfiguration.class);

    private static final DescribedPredicate<JavaClass> ROOMS =
            resideInAnyPackage(API, room("declaration"), room("call"), room("startup"));
    private static final DescribedPredicate<JavaClass> LIBRARIES =
            resideInAnyPackage(room("web"), room("integration"), room("shedlock"));
    private static final DescribedPredicate<JavaClass> BOOT = resideInAPackage(room("boot"));

    private static JavaClasses product;

    @BeforeAll
    static void readClasses() {
        product = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages(API);
    }

    @Test
    void no_room_knows_one_above() {
        assertThat(product.size()).isGreaterThan(50);
        rooms("startup", "call", "declaration", "").check(product);
    }

    /** Threads are made by DaemonThreads: others may keep an application in memory that was undeployed. */
    @Test
    void no_class_makes_a_thread_or_uses_one_that_never_ends() {
        noClasses()
                .should()
                .callConstructorWhere(DescribedPredicate.describe(
                        "makes a thread", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .orShould()
                .callMethodWhere(DescribedPredicate.describe(
                        "is a timer of CompletableFuture",
                        call -> call.getTargetOwner().isAssignableTo(CompletableFuture.class)
                                && List.of("orTimeout", "completeOnTimeout", "delayedExecutor")
                                        .contains(call.getName())))
                .check(product);
    }

    @Test
    void boot_is_above_the_rooms_and_the_libraries_know_none() {
        isBelow(ROOMS, BOOT.or(LIBRARIES)).check(product);
        isBelow(LIBRARIES, resideInAPackage(API + "..").and(not(LIBRARIES))).check(product);
    }

    @Test
    void the_same_rules_about_boot_fire() {
        assertThatThrownBy(() -> isBelow(BOOT, ROOMS.or(LIBRARIES)).check(product))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("LockedConfiguration")
                .hasMessageContaining("LockExceptionAdvice");
    }

    /** No module descriptor hides them on the class path. */
    @Test
    void no_class_knows_a_package_that_another_module_does_not_export() {
        ArchRule rule = isBelow(
                alwaysTrue(),
                resideInAnyPackage(
                        "io.holdfast.engine",
                        "io.holdfast.observe",
                        "io.holdfast.log",
                        "io.holdfast.store",
                        "io.holdfast.redis.*..",
                        "io.holdfast.console.json"));
        rule.check(product);
        assertThatThrownBy(() -> rule.check(new ClassFileImporter().importClasses(KnowsAnInternal.class)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("RedisErrors");
    }

    private static final class KnowsAnInternal {
        @SuppressWarnings("unused")
        private io.holdfast.redis.server.RedisErrors internal;
    }

    private static ArchRule isBelow(
            DescribedPredicate<? super JavaClass> below, DescribedPredicate<? super JavaClass> above) {
        return noClasses().that(below).should().dependOnClassesThat(above);
    }

    /** A rule that never fires proves nothing. */
    @Test
    void the_same_rule_with_two_rooms_exchanged_fires() {
        assertThatThrownBy(() -> rooms("startup", "declaration", "call", "").check(product))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("LockedInterceptor")
                .hasMessageContaining("OperationReader");
        assertThatThrownBy(() -> rooms("", "call").check(product))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("OnLost");
    }

    private static ArchRule rooms(String... fromTheTop) {
        List<String> all = Arrays.stream(fromTheTop).map(RoomsTest::room).toList();
        CompositeArchRule rules = null;
        for (int i = 1; i < all.size(); i++) {
            ArchRule rule = noClasses()
                    .that(resideInAPackage(all.get(i)).and(not(ASSEMBLY)))
                    .should()
                    .dependOnClassesThat(resideInAnyPackage(all.subList(0, i).toArray(String[]::new)));
            rules = rules == null ? CompositeArchRule.of(rule) : rules.and(rule);
        }
        return rules;
    }

    private static String room(String name) {
        return name.isEmpty() ? API : API + "." + name;
    }
}
