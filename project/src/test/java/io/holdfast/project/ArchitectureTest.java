package io.holdfast.project;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysFalse;
import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
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
import io.holdfast.CheckReturnValue;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.MultiLease;
import io.holdfast.Permits;
import io.holdfast.cli.commands.ExecCommand;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.page.PageServer;
import io.holdfast.cli.process.Kill;
import io.holdfast.cli.screen.Table;
import io.holdfast.cli.view.LockTable;
import io.holdfast.console.LockWatch;
import io.holdfast.console.json.Json;
import io.holdfast.console.web.ConsoleHandler;
import io.holdfast.engine.Engine;
import io.holdfast.history.History;
import io.holdfast.hold.StoredHold;
import io.holdfast.jdbc.JdbcGuard;
import io.holdfast.jmx.LockManagement;
import io.holdfast.leader.Candidates;
import io.holdfast.log.Quoted;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.observe.Observability;
import io.holdfast.opentelemetry.HoldfastTracing;
import io.holdfast.quorum.QuorumStores;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.record.NameRecord;
import io.holdfast.redis.RedisStores;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.spi.DaemonThreads;
import io.holdfast.spi.LockStore;
import io.holdfast.sql.SqlLockStoreProvider;
import io.holdfast.store.Stores;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.torture.Torture;
import io.holdfast.zookeeper.ZooKeeperLockStoreProvider;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The layers of the design, checked on the compiled classes of all modules: this module sees them all but
 * those of Spring.
 */
class ArchitectureTest {

    private static final String API = "io.holdfast";
    private static final String ENGINE = "io.holdfast.engine";
    private static final String OBSERVE = "io.holdfast.observe";
    private static final String LOG = "io.holdfast.log";
    private static final String STORE = "io.holdfast.store";
    private static final String HOLD = "io.holdfast.hold";
    private static final String LEADER = "io.holdfast.leader";
    private static final String JMX = "io.holdfast.jmx";
    private static final String SPI = "io.holdfast.spi";
    private static final String JDBC = "io.holdfast.jdbc";
    private static final String MEMORY = "io.holdfast.memory";

    /** The packages of the core module that it does not export. */
    private static final String[] HIDDEN = {ENGINE, OBSERVE, LOG, STORE};

    private static final String RECORD = "io.holdfast.record";
    private static final String QUORUM = "io.holdfast.quorum";
    private static final String REDIS = "io.holdfast.redis";
    private static final String SQL = "io.holdfast.sql";
    private static final String ZOOKEEPER = "io.holdfast.zookeeper";
    private static final String MICROMETER = "io.holdfast.micrometer";
    private static final String OPENTELEMETRY = "io.holdfast.opentelemetry";
    private static final String CDI = "io.holdfast.cdi";
    private static final String CONSOLE = "io.holdfast.console";
    private static final String CLI = "io.holdfast.cli";
    private static final String HISTORY = "io.holdfast.history";
    private static final String TESTKIT = "io.holdfast.testkit";

    /** A room, and the packages that its classes may know beside those of the JDK and {@code org.jspecify}. */
    @SuppressWarnings("ArrayRecordComponent") // rooms are never compared
    private record Room(String name, String... mayKnow) {

        /** Holds of these classes if they could be in the room. */
        ArchRule rule(DescribedPredicate<JavaClass> which) {
            return classes()
                    .that(which)
                    .should()
                    .onlyDependOnClassesThat(resideInAnyPackage(mayKnow)
                            .or(resideInAnyPackage("java..", "javax..", "org.jspecify.."))
                            .or(name.startsWith(REDIS) ? PUBLIC_ENUM_OF_REDIS : alwaysFalse()));
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** Settings carry them, so the rooms of the Redis store may know them. */
    private static final DescribedPredicate<JavaClass> PUBLIC_ENUM_OF_REDIS = describe(
            "are public enums of the Redis store",
            type -> type.getPackageName().equals(REDIS)
                    && type.isEnum()
                    && type.getModifiers().contains(JavaModifier.PUBLIC));

    /** An arrow between rooms that is not in this list is forbidden; so there is no circle of rooms. */
    static Stream<Room> rooms() {
        return Stream.of(
                new Room(HISTORY, HISTORY),
                new Room(SPI, SPI),
                new Room(LOG, LOG, SPI),
                new Room(STORE, STORE, LOG, API, SPI),
                new Room(API, API, OBSERVE, ENGINE, STORE, LOG, SPI),
                new Room(ENGINE, ENGINE, STORE, LOG, API, SPI),
                new Room(OBSERVE, OBSERVE, ENGINE, STORE, LOG, API, SPI, "jdk.jfr"),
                new Room(JMX, JMX, API, SPI),
                new Room(LEADER, LEADER, API, SPI),
                new Room(RECORD, RECORD, SPI),
                new Room(MEMORY, MEMORY, RECORD, SPI),
                new Room(JDBC, JDBC, SQL, HOLD, API, SPI),
                new Room(HOLD, HOLD, ENGINE, API, SPI),
                new Room(SQL, SQL, HOLD, RECORD, API, SPI, "org.postgresql"),
                new Room(QUORUM, QUORUM, SPI),
                new Room(QUORUM + ".memory", QUORUM + ".memory", QUORUM, SPI),
                redis("server"),
                redis("messages", "server"),
                redis("connect", "messages", "server"),
                redis("commands", "connect", "messages", "server"),
                redis("lua", "connect", "messages", "server"),
                redis("member", QUORUM, "lua", "connect", "messages", "server"),
                redis("", QUORUM, "member", "commands", "lua", "connect", "messages", "server"),
                new Room(ZOOKEEPER, ZOOKEEPER, SPI, "org.apache.curator..", "org.apache.zookeeper.."),
                new Room(MICROMETER, MICROMETER, API, SPI, "io.micrometer.core.instrument.."),
                new Room(OPENTELEMETRY, OPENTELEMETRY, API, "io.opentelemetry.api..", "io.opentelemetry.context.."),
                new Room(
                        CDI,
                        CDI,
                        LEADER,
                        JDBC,
                        MICROMETER,
                        API,
                        SPI,
                        "com.fasterxml.jackson..",
                        "io.micrometer.core.instrument",
                        "jakarta.annotation",
                        "jakarta.enterprise..",
                        "jakarta.inject",
                        "jakarta.interceptor",
                        "jakarta.transaction",
                        "org.eclipse.microprofile.config"),
                new Room(CONSOLE, CONSOLE, API, SPI),
                new Room(CONSOLE + ".json", CONSOLE + ".json", CONSOLE, API),
                new Room(CONSOLE + ".web", CONSOLE + ".web", CONSOLE + ".json", CONSOLE, API, SPI),
                new Room(TESTKIT, TESTKIT, API, HISTORY),
                new Room(
                        TESTKIT + ".contract",
                        TESTKIT + ".contract",
                        TESTKIT,
                        API,
                        SPI,
                        "org.junit.jupiter..",
                        "org.assertj..",
                        "org.awaitility.."),
                new Room(TESTKIT + ".servers", TESTKIT + ".servers"),
                new Room(TESTKIT + ".faults", TESTKIT + ".faults", TESTKIT + ".servers"),
                new Room(
                        TESTKIT + ".torture", TESTKIT + ".torture", TESTKIT + ".servers", TESTKIT + ".faults", HISTORY),
                new Room(CLI + ".console", CLI + ".console", SPI, "picocli"),
                new Room(CLI + ".page", CLI + ".page", CONSOLE + ".web", "com.sun.net.httpserver"),
                new Room(CLI + ".process", CLI + ".process"),
                new Room(CLI + ".screen", CLI + ".screen", CLI + ".console", CLI + ".process", SPI, "org.jline.."),
                new Room(CLI + ".view", CLI + ".view", CLI + ".screen", CLI + ".console", CONSOLE, API, SPI),
                new Room(
                        CLI + ".commands",
                        CLI + ".commands",
                        CLI + ".view",
                        CLI + ".screen",
                        CLI + ".console",
                        CLI + ".page",
                        CLI + ".process",
                        CONSOLE,
                        CONSOLE + ".json",
                        CONSOLE + ".web",
                        JDBC,
                        API,
                        SPI,
                        "picocli"),
                new Room(CLI, CLI, CLI + ".commands", CLI + ".console", API, SPI, "picocli"));
    }

    private static Room redis(String room, String... below) {
        String name = room.isEmpty() ? REDIS : REDIS + "." + room;
        Stream<String> others = Arrays.stream(below).map(other -> other.contains(".") ? other : REDIS + "." + other);
        return new Room(
                name,
                Stream.concat(
                                Stream.of(
                                        name, SPI, "io.lettuce..", "io.netty..", "reactor..", "org.reactivestreams.."),
                                others)
                        .toArray(String[]::new));
    }

    private static JavaClasses product;

    /** Read once: what a class knows is looked up on the class path, which takes a second. */
    private static JavaClasses sinner;

    @BeforeAll
    static void readClasses() {
        product = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .importPackages(API);
        sinner = new ClassFileImporter().importClasses(KnowsEverybody.class);
    }

    @Test
    void allModulesAreLookedAt() {
        for (String name : new String[] {
            "io.holdfast.LockClient",
            "io.holdfast.engine.Engine",
            "io.holdfast.observe.Observability",
            "io.holdfast.log.Quoted",
            "io.holdfast.store.Stores",
            "io.holdfast.leader.Candidates",
            "io.holdfast.spi.LockStore",
            "io.holdfast.redis.RedisLockStoreProvider",
            "io.holdfast.zookeeper.ZooKeeperLockStoreProvider",
            "io.holdfast.quorum.QuorumStores",
            "io.holdfast.jdbc.JdbcGuard",
            "io.holdfast.sql.SqlLockStoreProvider",
            "io.holdfast.micrometer.HoldfastMetrics",
            "io.holdfast.opentelemetry.HoldfastTracing",
            "io.holdfast.cdi.Locked",
            "io.holdfast.testkit.servers.RedisServer",
            "io.holdfast.console.LockWatch",
            "io.holdfast.cli.Main",
            "io.holdfast.demo.Launcher"
        }) {
            assertThat(product.contain(name)).as(name).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("rooms")
    void aRoomKnowsOnlyThoseThatItMayKnow(Room room) {
        room.rule(resideInAPackage(room.name())).check(product);
    }

    /** A rule that never fires proves nothing: each is asked about a class that knows somebody in every room. */
    @ParameterizedTest
    @MethodSource("rooms")
    void theRuleOfARoomFires(Room room) {
        assertThatThrownBy(() -> room.rule(alwaysTrue()).check(sinner)).satisfies(found -> {
            for (Class<?> known : KNOWN) {
                boolean allowed = List.of(room.mayKnow()).contains(known.getPackageName());
                assertThat(found.getMessage().contains("<" + known.getName() + ">"))
                        .as("%s of %s", known, room)
                        .isEqualTo(!allowed);
            }
        });
    }

    @Test
    void allTimeIsInjected() {
        noDirectClock().check(product);
    }

    /** A thread that never ends, or that keeps its maker's context class loader, keeps an application in memory. */
    @Test
    void noThreadKeepsAnApplicationInMemory() {
        noEndlessTimer(alwaysTrue()).check(product);
        noOtherThreads(not(resideInAnyPackage("io.holdfast.testkit..", "io.holdfast.cli..", "io.holdfast.demo..")))
                .check(product);
    }

    private static ArchRule noEndlessTimer(DescribedPredicate<? super JavaClass> where) {
        return noClasses()
                .that(where)
                .should()
                .callMethodWhere(describe(
                        "is a timer of CompletableFuture",
                        call -> call.getTargetOwner().isAssignableTo(CompletableFuture.class)
                                && List.of("orTimeout", "completeOnTimeout", "delayedExecutor")
                                        .contains(call.getName())))
                .as("no class uses a timer of CompletableFuture, whose thread never ends");
    }

    private static ArchRule noOtherThreads(DescribedPredicate<? super JavaClass> where) {
        return noClasses()
                .that(where)
                .and()
                .doNotHaveFullyQualifiedName(DaemonThreads.class.getName())
                .should()
                .callConstructorWhere(
                        describe("makes a thread", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .orShould()
                .callMethodWhere(describe(
                        "makes threads with the JDK's factory",
                        call -> call.getTargetOwner().isEquivalentTo(Executors.class)
                                && call.getTarget().getRawParameterTypes().stream()
                                        .noneMatch(type -> type.isEquivalentTo(ThreadFactory.class))))
                .as("no class but DaemonThreads makes a thread");
    }

    /** A virtual thread that waits in a synchronized method would keep its carrier, on Java before 24. */
    @Test
    void noMethodThatMayWaitIsSynchronized() {
        notSynchronized(resideInAnyPackage(
                        API,
                        ENGINE,
                        OBSERVE,
                        LOG,
                        STORE,
                        HOLD,
                        JMX,
                        SPI,
                        RECORD,
                        MEMORY,
                        QUORUM + "..",
                        REDIS + "..",
                        ZOOKEEPER,
                        JDBC,
                        SQL,
                        MICROMETER,
                        OPENTELEMETRY,
                        CONSOLE + ".."))
                .check(product);
    }

    private static ArchRule notSynchronized(DescribedPredicate<JavaClass> where) {
        return methods().that().areDeclaredInClassesThat(where).should().notHaveModifier(JavaModifier.SYNCHRONIZED);
    }

    /** A user who reads the API meets the engine at its door alone. */
    @Test
    void theApiLooksIntoTheEngineByItsDoorOnly() {
        noLookInside(resideInAPackage(API)
                        .and(not(describe(
                                "are the door",
                                type -> DOOR.stream()
                                        .map(name -> API + "." + name)
                                        .anyMatch(name -> type.getName().equals(name)
                                                || type.getName().startsWith(name + "$"))))))
                .check(product);
    }

    private static final List<String> DOOR =
            List.of("LockClient", "AcquireForms", "TaskForms", "ReadWriteForms", "Permits", "StoreOnce", "LockOptions");

    private static ArchRule noLookInside(DescribedPredicate<JavaClass> where) {
        return noClasses().that(where).should().dependOnClassesThat(resideInAnyPackage(HIDDEN));
    }

    /** So that a compiler sees a call that drops its lease. */
    @Test
    void whatHandsOutALeaseIsMarked() {
        marked(describe("are LockClient or a superclass of it", type -> type.isAssignableFrom(LockClient.class)))
                .check(product);
        marked(describe("are Permits", type -> type.isEquivalentTo(Permits.class)))
                .check(product);
    }

    private static ArchRule marked(DescribedPredicate<JavaClass> where) {
        return methods()
                .that()
                .areDeclaredInClassesThat(where)
                .and()
                .arePublic()
                .and(DescribedPredicate.<JavaMethod>describe(
                        "return a lease",
                        method -> method.getReturnType().getAllInvolvedRawTypes().stream()
                                .anyMatch(type ->
                                        type.isEquivalentTo(Lease.class) || type.isEquivalentTo(MultiLease.class))))
                .should()
                .beAnnotatedWith(CheckReturnValue.class);
    }

    /** On the class path no module descriptor hides these packages. The benchmarks measure them, and are not here. */
    @Test
    void noOtherModuleKnowsThePackagesThatAreNotExported() {
        for (String hidden : HIDDEN) {
            noInternals(not(resideInAnyPackage(API, HOLD).or(resideInAnyPackage(HIDDEN))), hidden)
                    .check(product);
        }
        noInternals(not(resideInAnyPackage(RECORD, MEMORY, SQL)), RECORD).check(product);
        noInternals(not(resideInAnyPackage(HOLD, SQL, JDBC)), HOLD).check(product);
        noInternals(not(resideInAPackage(REDIS + "..")), REDIS + ".*..").check(product);
        noInternals(not(resideInAnyPackage(CONSOLE + "..", CLI + "..", "io.holdfast.demo..")), CONSOLE + ".json")
                .check(product);
    }

    private static ArchRule noInternals(DescribedPredicate<? super JavaClass> where, String internals) {
        return noClasses().that(where).should().dependOnClassesThat(resideInAPackage(internals));
    }

    /** A rule that never fires proves nothing. */
    @Test
    void theRuleOfTimeFires() {
        assertFires(noDirectClock(alwaysTrue()), LooksAtTheClock.class, "System.nanoTime()");
    }

    @Test
    @Tag("deep") // quick: the test above
    void theOtherRulesFire() {
        assertFires(
                noEndlessTimer(alwaysTrue()),
                MakesThreads.class,
                "orTimeout(",
                "completeOnTimeout(",
                "delayedExecutor(");
        assertFires(noOtherThreads(alwaysTrue()), MakesThreads.class, "Thread.<init>(", "newCachedThreadPool()");
        assertFires(notSynchronized(alwaysTrue()), IsSynchronized.class, "IsSynchronized.method()");
        assertFires(marked(alwaysTrue()), HandsOutLeases.class, "HandsOutLeases.one()", "HandsOutLeases.several()");
        assertFires(noLookInside(alwaysTrue()), KnowsEverybody.class, "engine.Engine", "observe.Observability");
        assertFires(noInternals(alwaysTrue(), ENGINE), KnowsEverybody.class, "engine.Engine");
        assertFires(noInternals(alwaysTrue(), OBSERVE), KnowsEverybody.class, "observe.Observability");
        assertFires(noInternals(alwaysTrue(), LOG), KnowsEverybody.class, "log.Quoted");
        assertFires(noInternals(alwaysTrue(), STORE), KnowsEverybody.class, "store.Stores");
        assertFires(noInternals(alwaysTrue(), RECORD), KnowsEverybody.class, "record.NameRecord");
        assertFires(noInternals(alwaysTrue(), HOLD), KnowsEverybody.class, "hold.StoredHold");
        assertFires(noInternals(alwaysTrue(), REDIS + ".*.."), KnowsEverybody.class, "RedisErrors", "LuaScript");
        assertFires(noInternals(alwaysTrue(), CONSOLE + ".json"), KnowsEverybody.class, "json.Json");
    }

    private static void assertFires(ArchRule rule, Class<?> sinner, String... found) {
        JavaClasses classes = new ClassFileImporter().importClasses(sinner);
        assertThatThrownBy(() -> rule.check(classes))
                .isInstanceOf(AssertionError.class)
                .hasMessageContainingAll(found);
    }

    private static ArchRule noDirectClock() {
        return noDirectClock(
                not(resideInAnyPackage("io.holdfast.testkit..", "io.holdfast.cli..", "io.holdfast.demo..")));
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

    /** The classes that {@link KnowsEverybody} knows, one of each room that is not closed to this test. */
    private static final List<Class<?>> KNOWN = List.of(
            History.class,
            LockStore.class,
            LockClient.class,
            Engine.class,
            Observability.class,
            Quoted.class,
            Stores.class,
            LockManagement.class,
            Candidates.class,
            MemoryLockStore.class,
            NameRecord.class,
            StoredHold.class,
            JdbcGuard.class,
            SqlLockStoreProvider.class,
            QuorumStores.class,
            MemoryQuorumNode.class,
            RedisErrors.class,
            RedisConnections.class,
            CompareProbe.class,
            LuaScript.class,
            RedisStores.class,
            ZooKeeperLockStoreProvider.class,
            HoldfastMetrics.class,
            HoldfastTracing.class,
            Io.class,
            Json.class,
            Kill.class,
            LockWatch.class,
            ConsoleHandler.class,
            PageServer.class,
            Table.class,
            LockTable.class,
            ExecCommand.class,
            OverlapDetector.class,
            LockStoreContract.class,
            RedisServer.class,
            FaultProxy.class,
            Torture.class);

    @SuppressWarnings("unused")
    private static final class KnowsEverybody {
        private History history;
        private LockStore spi;
        private LockClient api;
        private Engine engine;
        private Observability observe;
        private Quoted quoted;
        private Stores stores;
        private LockManagement jmx;
        private Candidates leader;
        private MemoryLockStore memory;
        private NameRecord nameRecord;
        private StoredHold storedHold;
        private JdbcGuard jdbc;
        private SqlLockStoreProvider sql;
        private QuorumStores quorum;
        private MemoryQuorumNode quorumMember;
        private RedisErrors redisServer;
        private RedisMessages redisMessages;
        private RedisConnections redisConnect;
        private CompareProbe redisCommands;
        private LuaScript redisLua;
        private RedisStores redis;
        private ZooKeeperLockStoreProvider zooKeeper;
        private HoldfastMetrics micrometer;
        private HoldfastTracing openTelemetry;
        private Io console;
        private Json json;
        private Kill process;
        private LockWatch watch;
        private ConsoleHandler page;
        private PageServer pageServer;
        private Table screen;
        private LockTable view;
        private ExecCommand commands;
        private OverlapDetector testkit;
        private LockStoreContract contract;
        private RedisServer servers;
        private FaultProxy faults;
        private Torture torture;
    }

    private static final class LooksAtTheClock {
        @SuppressWarnings("unused")
        static long now() {
            return System.nanoTime();
        }
    }

    private static final class MakesThreads {
        @SuppressWarnings("unused")
        static Object method(CompletableFuture<String> stage) {
            new Thread(() -> {}).start();
            stage.orTimeout(1, TimeUnit.SECONDS).completeOnTimeout("", 1, TimeUnit.SECONDS);
            return List.of(Executors.newCachedThreadPool(), CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS));
        }
    }

    private static final class IsSynchronized {
        @SuppressWarnings("unused")
        static synchronized void method() {}
    }

    private interface HandsOutLeases {
        @SuppressWarnings("unused")
        Lease one();

        @SuppressWarnings("unused")
        Optional<MultiLease> several();
    }
}
