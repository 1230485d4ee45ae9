package javax.annotation;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The one from before Jakarta, which Spring Framework 6 still knows by its name. */
@Retention(RetentionPolicy.RUNTIME)
public @interface PostConstruct {}
