package orders;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application with a database and no Redis. */
@SpringBootApplication
public class Shop {}
