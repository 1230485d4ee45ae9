package io.holdfast.samples.refunds;

/**
 * What report is wanted.
 *
 * @param siteId of which site
 * @param day of which day
 */
public record SiteReportRequest(long siteId, String day) {}
