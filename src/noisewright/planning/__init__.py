"""From the policy of a column and its type to its mechanism, its price and its encoding."""
