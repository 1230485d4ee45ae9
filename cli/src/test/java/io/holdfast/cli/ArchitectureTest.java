package io.holdfast.cli;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.CompositeArchRule;
import io.holdfast.CheckReturnValue;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The layers of the design, checked on the compiled classes of all modules: here, because this module is the one that
 * sees them all.
 */
class ArchitectureTest {

    private static final String API = "io.holdfast";
    private static final String SPI = "io.holdfast.spi";
    private static final String MEMORY = "io.holdfast.memory";
    private static final String QUORUM = "io.holdfast.quorum";
    private static final String REDIS = "io.holdfast.redis..";
    private static final String REDIS_ROOT = "io.holdfast.redis";
    private static final String ZOOKEEPER = "io.holdfast.zookeeper..";
    private static final String TESTKIT = "io.holdfast.testkit..";
    private static final String HISTORY = "io.holdfast.history..";
    private static final String CLI = "io.holdfast.cli..";

    private static final String[] CORE = {API, SPI, MEMORY};

    private static JavaClasses product;

    @BeforeAll
    static void readClasses() {
        product = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages(API);
    }

    @Test
    void allModulesAreLookedAt() {
        for (String name : new String[] {
            "io.holdfast.LockClient",
            "io.holdfast.spi.LockStore",
            "io.holdfast.redis.RedisLockStoreProvider",
            "io.holdfast.zookeeper.ZooKeeperLockStoreProvider",
            "io.holdfast.testkit.RedisServer",
            "io.holdfast.cli.Main"
        }) {
            assertThat(product.contain(name)).as(name).isTrue();
        }
    }

    @Test
    void theStoreContractKnowsNobody() {
        noClasses()
                .that()
                .resideInAPackage(SPI)
                .should()
                .dependOnClassesThat(
                        resideInAPackage("io.holdfast..").and(DescribedPredicate.not(resideInAPackage(SPI))))
                .check(product);
    }

    @Test
    void theEngineKnowsNoStore() {
        noClasses()
                .that()
                .resideInAPackage(API)
                .should()
                .dependOnClassesThat(resideInAnyPackage(MEMORY, QUORUM, REDIS, ZOOKEEPER, TESTKIT, CLI))
                .check(product);
    }

    @Test
    void theCoreNeedsTheJdkOnly() {
        classes()
                .that()
                .resideInAnyPackage(CORE)
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(CORE).or(resideInAnyPackage("java..", "org.jspecify..")))
                .check(product);
    }

    @Test
    void theQuorumKnowsTheContractOnly() {
        noClasses()
                .that()
                .resideInAPackage(QUORUM)
                .should()
                .dependOnClassesThat(resideInAnyPackage(API, MEMORY, REDIS, ZOOKEEPER, TESTKIT, CLI))
                .check(product);
    }

    @Test
    void theCheckerOfHistoriesKnowsNobody() {
        noClasses()
                .that()
                .resideInAPackage(HISTORY)
                .should()
                .dependOnClassesThat(
                        resideInAPackage("io.holdfast..").and(DescribedPredicate.not(resideInAPackage(HISTORY))))
                .check(product);
    }

    @Test
    void theRedisStoreKnowsTheContractOnly() {
        noClasses()
                .that()
                .resideInAPackage(REDIS)
                .should()
                .dependOnClassesThat(resideInAnyPackage(API, MEMORY, TESTKIT, CLI))
                .check(product);
    }

    @Test
    void theRoomsOfTheRedisStoreKnowOnlyThoseBelow() {
        redisRooms().check(product);
    }

    /** A rule that never fires proves nothing: the same rule with two rooms in the wrong order. */
    @Test
    void theRuleOfRoomsFires() {
        assertThatThrownBy(() -> rooms("server", "connect").check(product))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("connect");
    }

    private static ArchRule redisRooms() {
        return rooms("member", "lua", "commands", "connect", "server");
    }

    /** Each room but the last may know those after it; lua and commands do not know each other. */
    private static ArchRule rooms(String... topDown) {
        CompositeArchRule all = CompositeArchRule.of(noRoomKnowsTheRoot(topDown));
        for (int i = 1; i < topDown.length; i++) {
            String[] above = Arrays.stream(topDown, 0, i)
                    .map(room -> REDIS_ROOT + "." + room)
                    .toArray(String[]::new);
            all = all.and(noClasses()
                    .that()
                    .resideInAPackage(REDIS_ROOT + "." + topDown[i])
                    .should()
                    .dependOnClassesThat(resideInAnyPackage(above)));
        }
        return all.and(noClasses()
                .that()
                .resideInAPackage(REDIS_ROOT + ".lua")
                .should()
                .dependOnClassesThat(resideInAnyPackage(REDIS_ROOT + ".commands")));
    }

    /** But for the two public enums, which settings carry. */
    private static ArchRule noRoomKnowsTheRoot(String... rooms) {
        return noClasses()
                .that()
                .resideInAnyPackage(Arrays.stream(rooms)
                        .map(room -> REDIS_ROOT + "." + room)
                        .toArray(String[]::new))
                .should()
                .dependOnClassesThat(resideInAPackage(REDIS_ROOT)
                        .and(DescribedPredicate.not(DescribedPredicate.describe(
                                "are the public enums",
                                type -> type.isEnum() && type.getModifiers().contains(JavaModifier.PUBLIC)))));
    }

    @Test
    void theZooKeeperStoreKnowsTheContractOnly() {
        noClasses()
                .that()
                .resideInAPackage(ZOOKEEPER)
                .should()
                .dependOnClassesThat(resideInAnyPackage(API, MEMORY, QUORUM, REDIS, TESTKIT, CLI))
                .check(product);
    }

    @Test
    void allTimeIsInjected() {
        noDirectClock().check(product);
    }

    /** A virtual thread that waits in a synchronized method would keep its carrier, on Java before 24. */
    @Test
    void nothingInTheCoreIsSynchronized() {
        methods()
                .that()
                .areDeclaredInClassesThat()
                .resideInAnyPackage(API, SPI, MEMORY, QUORUM, REDIS, ZOOKEEPER)
                .should()
                .notHaveModifier(JavaModifier.SYNCHRONIZED)
                .check(product);
    }

    /** So that a compiler sees a call that drops its lease. */
    @Test
    void whatHandsOutALeaseIsMarked() {
        methods()
                .that()
                .areDeclaredInClassesThat(DescribedPredicate.describe(
                        "are LockClient or a superclass of it", type -> type.isAssignableFrom(LockClient.class)))
                .and()
                .arePublic()
                .and(DescribedPredicate.<JavaMethod>describe(
                        "return a lease",
                        method -> method.getReturnType().getAllInvolvedRawTypes().stream()
                                .anyMatch(type ->
                                        type.isEquivalentTo(Lease.class) || type.isEquivalentTo(MultiLease.class))))
                .should()
                .beAnnotatedWith(CheckReturnValue.class)
                .check(product);
    }

    /** A rule that never fires proves nothing. */
    @Test
    void theRuleOfTimeFires() {
        JavaClasses sinner = new ClassFileImporter().importClasses(LooksAtTheClock.class);
        assertThatThrownBy(() -> noDirectClock(DescribedPredicate.alwaysTrue()).check(sinner))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("System.nanoTime()");
    }

    private static ArchRule noDirectClock() {
        return noDirectClock(DescribedPredicate.not(resideInAnyPackage(TESTKIT, CLI)));
    }

    private static ArchRule noDirectClock(DescribedPredicate<? super JavaClass> where) {
        return noClasses()
                .that(where)
                .and()
                .doNotHaveFullyQualifiedName("io.holdfast.spi.SystemTime")
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Thread.class, "sleep", long.class)
                .orShould()
                .callMethod(Thread.class, "sleep", long.class, int.class)
                .orShould()
                .callMethod(java.time.Instant.class, "now")
                .as("no class but SystemTime looks at a clock or sleeps");
    }

    private static final class LooksAtTheClock {
        @SuppressWarnings("unused")
        static long now() {
            return System.nanoTime();
        }
    }
}
