package io.holdfast.samples.refunds;

/**
 * A request for a report.
 *
 * @param siteId the site
 * @param day the day
 */
public record SiteReportRequest(long siteId, String day) {}
