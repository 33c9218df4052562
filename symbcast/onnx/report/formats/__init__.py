"""Reports about models in the formats of others: SARIF for code scanning, and the commands of GitHub's workflows."""
