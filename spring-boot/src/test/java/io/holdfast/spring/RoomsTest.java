package io.holdfast.spring;

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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The rooms know only those below: startup, call, declaration, API. Above them are {@link LockedConfiguration}, which
 * assembles them, and {@code boot}. No module descriptor hides the rooms, because Spring Boot runs on the class path.
 */
class RoomsTest {

    private static final String API = "io.holdfast.spring";

    private static final DescribedPredicate<JavaClass> ASSEMBLY = belongToAnyOf(LockedConfiguration.class);

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

    @Test
    void boot_is_above_the_rooms_and_the_libraries_know_none() {
        noClasses()
                .that(resideInAnyPackage(API, room("declaration"), room("call"), room("startup")))
                .should()
                .dependOnClassesThat(
                        resideInAnyPackage(room("boot"), room("web"), room("integration"), room("shedlock")))
                .check(product);
        noClasses()
                .that(resideInAnyPackage(room("web"), room("integration"), room("shedlock")))
                .should()
                .dependOnClassesThat(resideInAPackage(API + "..")
                        .and(DescribedPredicate.not(
                                resideInAnyPackage(room("web"), room("integration"), room("shedlock")))))
                .check(product);
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
                    .that(resideInAPackage(all.get(i)).and(DescribedPredicate.not(ASSEMBLY)))
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
