package io.holdfast.spring.boot;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.util.ClassUtils;

/** Contexts as Boot 4 and Boot 3.5 make them; what moved between them goes by its names. */
public final class Contexts {

    private Contexts() {}

    /** Spring Boot's own Redis, transactions and data source where they are on the class path, and ours. */
    public static ApplicationContextRunner boot() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(configurations(
                        "org.springframework.boot.autoconfigure.aop.AopAutoConfiguration",
                        "org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration",
                        "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
                        "org.springframework.boot.autoconfigure.data.redis.RedisAutoConfiguration",
                        HoldfastAutoConfiguration.class.getName())));
    }

    /** Ours on a memory store of this name. */
    public static ApplicationContextRunner memory(String name) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.store=memory:" + name);
    }

    /** Returns JPA on a database, for the entities in this one's package; it makes no tables. */
    public static LocalContainerEntityManagerFactoryBean jpa(DataSource database, Class<?> entity) {
        LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();
        factory.setDataSource(database);
        factory.setPackagesToScan(entity.getPackageName());
        factory.setJpaVendorAdapter(new HibernateJpaVendorAdapter());
        factory.setJpaPropertyMap(Map.of("hibernate.hbm2ddl.auto", "none"));
        return factory;
    }

    /** Those that are there, in any version. */
    public static Class<?>[] configurations(String... names) {
        List<Class<?>> found = new ArrayList<>();
        for (String name : names) {
            if (ClassUtils.isPresent(name, Contexts.class.getClassLoader())) {
                found.add(ClassUtils.resolveClassName(name, Contexts.class.getClassLoader()));
            }
        }
        return found.toArray(Class<?>[]::new);
    }

    /** Its method is not visible to subclasses in other packages, nor to proxies made of those. */
    public abstract static class OfAnotherPackage {
        @io.holdfast.spring.Locked("x")
        void method() {}
    }
}
