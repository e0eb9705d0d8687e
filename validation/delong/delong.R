# Areas, DeLong's variance, interval and tests, and Youden's index of the scores in scores.csv, by pROC: writes
# expected.json.
# Run in this directory: Rscript delong.R
suppressMessages(library(pROC))
scores <- read.csv("scores.csv")
number <- function(x) sprintf("%.15g", as.numeric(x))
entries <- c()
for (case in unique(scores$case)) {
  part <- scores[scores$case == case, ]
  a <- roc(part$label, part$a, levels = c(0, 1), direction = "<")
  b <- roc(part$label, part$b, levels = c(0, 1), direction = "<")
  interval <- ci.auc(a, method = "delong", conf.level = 0.95)
  paired <- roc.test(a, b, method = "delong", paired = TRUE)
  less <- roc.test(a, b, method = "delong", paired = TRUE, alternative = "less")
  unpaired <- roc.test(a, b, method = "delong", paired = FALSE)
  fields <- c(
    auc_a = number(auc(a)), auc_b = number(auc(b)),
    partial_a = number(auc(a, partial.auc = c(1, 0.9))),
    youden_a = number(max(coords(a, "best", ret = "youden", transpose = FALSE)) - 1),
    variance_a = number(var(a, method = "delong")), variance_b = number(var(b, method = "delong")),
    covariance = number(cov(a, b, method = "delong")),
    lower_a = number(interval[1]), upper_a = number(interval[3]),
    paired_statistic = number(paired$statistic), paired_p_value = number(paired$p.value),
    paired_p_value_less = number(less$p.value),
    unpaired_statistic = number(unpaired$statistic), unpaired_p_value = number(unpaired$p.value),
    unpaired_degrees_of_freedom = number(unpaired$parameter)
  )
  inner <- paste0("    \"", names(fields), "\": ", fields, collapse = ",\n")
  entries <- c(entries, paste0("  \"", case, "\": {\n", inner, "\n  }"))
}
version <- paste0("  \"made_by\": \"pROC ", packageVersion("pROC"), ", R ", getRversion(), "\"")
writeLines(c("{", paste(c(version, entries), collapse = ",\n"), "}"), "expected.json")
