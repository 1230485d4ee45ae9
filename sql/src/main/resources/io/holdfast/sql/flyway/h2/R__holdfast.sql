-- The tables of Holdfast's locks for H2 2.
CREATE TABLE IF NOT EXISTS holdfast_lock (
  lock_key  VARCHAR(64) NOT NULL PRIMARY KEY,
  base      BIGINT NOT NULL,
  holder    VARCHAR(200) NOT NULL,
  ends      TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  settings  BIGINT NOT NULL,
  lease     BIGINT NOT NULL,
  queue     VARCHAR NOT NULL,
  holders   VARCHAR NOT NULL,
  contended BIGINT NOT NULL,
  version   BIGINT NOT NULL,
  name      VARCHAR(200) NOT NULL
);

CREATE TABLE IF NOT EXISTS holdfast_card (
  client  VARCHAR(200) NOT NULL PRIMARY KEY,
  card    VARCHAR NOT NULL,
  written TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  heard   TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  ends    TIMESTAMP(6) WITH TIME ZONE NOT NULL
);
