-- The tables of Holdfast's locks for MySQL 8 and MariaDB 10.6, or newer.
CREATE TABLE IF NOT EXISTS holdfast_lock (
  lock_key  VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  base      BIGINT NOT NULL,
  holder    VARCHAR(200) NOT NULL,
  ends      DATETIME(6) NOT NULL,
  settings  BIGINT NOT NULL,
  lease     BIGINT NOT NULL,
  queue     MEDIUMTEXT NOT NULL,
  holders   MEDIUMTEXT NOT NULL,
  contended BIGINT NOT NULL,
  version   BIGINT NOT NULL,
  name      VARCHAR(200) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS holdfast_card (
  client  VARCHAR(200) NOT NULL PRIMARY KEY,
  card    MEDIUMTEXT NOT NULL,
  written DATETIME(6) NOT NULL,
  heard   DATETIME(6) NOT NULL,
  ends    DATETIME(6) NOT NULL
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
