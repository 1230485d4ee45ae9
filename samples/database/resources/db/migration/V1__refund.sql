CREATE TABLE refund (order_id BIGINT NOT NULL);
