package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceConfiguration;
import jakarta.persistence.PersistenceUnitTransactionType;
import org.junit.jupiter.api.Test;

class FencedJpaTest {

    @Test
    void an_entity_refuses_an_old_holder() throws Exception {
        try (TwoHolders holders = new TwoHolders("order:1");
                EntityManagerFactory database = database()) {
            database.runInTransaction(entities -> entities.persist(new FencedOrder(1)));

            setStatus(database, holders.old, "paid");
            Lease next = holders.next();
            setStatus(database, next, "packed");
            setStatus(database, next, "sent");
            assertThatThrownBy(() -> setStatus(database, holders.old, "cancelled"))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("refused");

            assertThat(database.<String>callInTransaction(
                            entities -> entities.find(FencedOrder.class, 1L).status()))
                    .isEqualTo("sent");
        }
    }

    private static void setStatus(EntityManagerFactory database, Lease lease, String status) {
        database.runInTransaction(
                entities -> FencedJpa.claim(entities, lease, 1).setStatus(status));
    }

    private static EntityManagerFactory database() {
        return new PersistenceConfiguration("recipes")
                .provider("org.hibernate.jpa.HibernatePersistenceProvider")
                .transactionType(PersistenceUnitTransactionType.RESOURCE_LOCAL)
                .managedClass(FencedOrder.class)
                .property("jakarta.persistence.jdbc.url", "jdbc:h2:mem:recipes")
                .property("jakarta.persistence.schema-generation.database.action", "create")
                .createEntityManagerFactory();
    }
}
