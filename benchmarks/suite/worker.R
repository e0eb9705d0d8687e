# Runs one task a few times in R; prints the version and the seconds, one per line.
#   Rscript worker.R TASK NEGATIVE.csv POSITIVE.csv REPEATS REPLICATES
arguments <- commandArgs(trailingOnly = TRUE)
task <- arguments[1]
negative <- scan(arguments[2], quiet = TRUE)
positive <- scan(arguments[3], quiet = TRUE)
repeats <- as.integer(arguments[4])
replicates <- as.integer(arguments[5])
label <- c(rep(0, length(negative)), rep(1, length(positive)))
score <- c(negative, positive)

package <- sub("_.*", "", task)
if (!suppressWarnings(suppressMessages(require(package, character.only = TRUE, quietly = TRUE)))) {
  stop(paste("package", package, "is not installed"))
}
curve <- function() roc(label, score, levels = c(0, 1), direction = "<", quiet = TRUE)
work <- switch(task,
  pROC_roc = function() auc(curve()),
  pROC_delong = function() ci.auc(curve(), method = "delong"),
  pROC_band = function() ci.se(curve(), specificities = seq(0, 1, 0.01), boot.n = replicates, progress = "none"),
  ROCR_roc = function() {
    found <- prediction(score, label)
    performance(found, "tpr", "fpr")
    performance(found, "auc")@y.values
  }
)
invisible(work())
cat(as.character(packageVersion(package)), "\n")
for (i in seq_len(repeats)) cat(system.time(invisible(work()))[["elapsed"]], "\n")
