package io.holdfast.spring.once;

import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.boot.Contexts;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.support.TransactionTemplate;

/** Contexts with a database of their own and the application's ObjectMapper, on Boot 4 and Boot 3.5. */
public final class OnceContexts {

    private OnceContexts() {}

    /** On an H2 database and a memory store of this name; the tables are there. */
    static ApplicationContextRunner h2(String name) {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000");
        try (Connection connection = source.getConnection()) {
            JdbcOnce.defaults().createTable(connection);
            connection.createStatement().execute("CREATE TABLE IF NOT EXISTS effects (id VARCHAR(100) NOT NULL)");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        return json(Contexts.memory(name))
                .withBean(DataSource.class, () -> source)
                .withUserConfiguration(Transactions.class);
    }

    public static ApplicationContextRunner json(ApplicationContextRunner runner) {
        return runner.withConfiguration(AutoConfigurations.of(Contexts.configurations(
                "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
                "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration")));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Transactions {

        @Bean
        PlatformTransactionManager transactionManager(DataSource source) {
            return new DataSourceTransactionManager(source);
        }

        @Bean
        TransactionTemplate transactionTemplate(PlatformTransactionManager manager) {
            return new TransactionTemplate(manager);
        }

        @Bean
        JdbcTemplate jdbcTemplate(DataSource source) {
            return new JdbcTemplate(source);
        }
    }
}
