-- The tables of Holdfast's locks for PostgreSQL 13 or newer. The newest row of a key, by its base, is the lock.
CREATE TABLE IF NOT EXISTS holdfast_lock (
  lock_key  VARCHAR(64) COLLATE "C" NOT NULL,
  base      BIGINT NOT NULL,
  holder    VARCHAR(200) COLLATE "C" NOT NULL,
  ends      TIMESTAMPTZ NOT NULL,
  settings  BIGINT NOT NULL,
  lease     BIGINT NOT NULL,
  queue     TEXT NOT NULL,
  holders   TEXT NOT NULL,
  contended BIGINT NOT NULL,
  version   BIGINT NOT NULL,
  name      VARCHAR(200) NOT NULL,
  PRIMARY KEY (lock_key, base)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);

CREATE TABLE IF NOT EXISTS holdfast_card (
  client  VARCHAR(200) COLLATE "C" PRIMARY KEY,
  card    TEXT NOT NULL,
  written TIMESTAMPTZ NOT NULL,
  heard   TIMESTAMPTZ NOT NULL,
  ends    TIMESTAMPTZ NOT NULL
);
