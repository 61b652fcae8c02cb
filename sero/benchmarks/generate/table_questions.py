"""The questions of generated fact-checking and numerical items, by subtype and kind.

Headers, names and values stand in quotes, and `{where}` is empty or a clause such as
` whose 'coast' is 'north' and whose 'berths' is above 20`.
"""

from __future__ import annotations

from collections.abc import Mapping

ROUND = " Round to two decimal places."

FACT_AND_NUMERICAL: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "MatchBased": {
        "row_of_value": (
            "Which {noun} has a '{col}' of {value}?",
            "For which {noun} does the table give {value} as the '{col}'?",
        ),
        "cell_of_row": (
            "What does the table give as the '{col}' of '{name}'?",
            "Look up '{name}': what is its '{col}'?",
        ),
        "claim_value": (
            "Is it true that '{name}' has a '{col}' of {value}? Answer Yes or No.",
            "Does the table give {value} as the '{col}' of '{name}'? Answer Yes or No.",
        ),
        "extreme_row": (
            "Which {noun} has the {extreme} '{col}'?",
            "Of all the {nouns}, which one shows the {extreme} '{col}'?",
        ),
        "claim_extreme": (
            "Is '{name}' the {noun} with the {extreme} '{col}'? Answer Yes or No.",
            "Check this claim: no {noun} but '{name}' has the {extreme} '{col}'. "
            "Answer Yes if it holds and No if not.",
        ),
    },
    "Multi-hop FactChecking": {
        "category_of_extreme": (
            "What is the '{cat}' of the {noun} with the {extreme} '{col}'?",
            "Find the {noun} with the {extreme} '{col}'. What is its '{cat}'?",
        ),
        "extreme_in_group": (
            "Among the {nouns}{where}, which one has the {extreme} '{col}'?",
            "Looking only at {nouns}{where}, which {noun} has the {extreme} '{col}'?",
        ),
        "row_and_category": (
            "Which {noun} has the {extreme} '{col}', and what is its '{cat}'?",
            "Name the {noun} with the {extreme} '{col}' together with its '{cat}'.",
        ),
        "claim_same_row": (
            "Is the {noun} with the {extreme} '{col}' also the one with the {extreme2} '{other}'? "
            "Answer Yes or No.",
            "Does one and the same {noun} have both the {extreme} '{col}' and the {extreme2} "
            "'{other}'? Answer Yes or No.",
        ),
        "claim_count": (
            "Does the table list exactly {n} {nouns}{where}? Answer Yes or No.",
            "Is {n} the number of {nouns}{where}? Answer Yes or No.",
        ),
    },
    "Aggregation": {
        "total": (
            "What is the total '{col}' of the {nouns}{where}?",
            "Taken together, what '{col}' do the {nouns}{where} reach?",
        ),
        "average": (
            "What is the average '{col}' of the {nouns}{where}?" + ROUND,
            "Work out the mean '{col}' over the {nouns}{where}." + ROUND,
        ),
        "average_known": (
            "Leaving out any {noun} without a figure, what is the average '{col}'?" + ROUND,
            "What is the mean '{col}' over those {nouns} for which the table gives it?" + ROUND,
        ),
        "total_of_two": (
            "What is the combined total of '{col}' and '{other}' over all {nouns}?",
            "Adding '{col}' and '{other}' of all {nouns}, what sum results?",
        ),
    },
    "ArithmeticCalculation": {
        "spread": (
            "By how much does the highest '{col}' among the {nouns} exceed the lowest?",
            "What is the distance between the largest and the smallest '{col}' of the {nouns}?",
        ),
        "top_sum": (
            "What do the {n} highest '{col}' figures of the {nouns} add up to?",
            "Add up '{col}' over the {n} {nouns} where it is highest. What is the result?",
        ),
        "ratio": (
            "How many times as large as the '{col}' of '{name2}' is that of '{name}'?" + ROUND,
            "Divide the '{col}' of '{name}' by the '{col}' of '{name2}'. What results?" + ROUND,
        ),
        "after_change": (
            "If the '{col}' of '{name}' {verb} by {n} per cent, what would it be?" + ROUND,
            "Suppose the '{col}' of '{name}' {verb} by {n} per cent: what is the new figure?"
            + ROUND,
        ),
        "row_sum": (
            "What is the sum of '{col}' and '{other}' for '{name}'?",
            "Add the '{col}' and the '{other}' of '{name}'. What is the result?",
        ),
    },
    "Comparison": {
        "gap": (
            "By how much is the '{col}' of '{name}' higher than that of '{name2}'?",
            "How far does '{name}' lie above '{name2}' in '{col}'?",
        ),
        "higher_of_two": (
            "Which of '{name}' and '{name2}' has the higher '{col}', and by how much?",
            "Compare '{name}' with '{name2}': which one is higher in '{col}', and by what amount?",
        ),
        "group_gap": (
            "How far apart are the average '{col}' of {nouns} whose '{cat}' is '{value}' and that "
            "of {nouns} whose '{cat}' is '{value2}'? Give the absolute difference." + ROUND,
            "What is the absolute difference between the mean '{col}' of {nouns} with the '{cat}' "
            "'{value}' and of {nouns} with the '{cat}' '{value2}'?" + ROUND,
        ),
        "above_row": (
            "Which {nouns} have a higher '{col}' than '{name}'? List them in the order of the "
            "table.",
            "In the order of the table, which {nouns} surpass '{name}' in '{col}'?",
        ),
    },
    "Counting": {
        "count_where": (
            "How many {nouns} are there{where}?",
            "Count the {nouns}{where}. How many are there?",
        ),
        "count_between": (
            "How many {nouns} have a '{col}' of at least {low} and at most {high}?",
            "For how many {nouns} does the '{col}' lie between {low} and {high}, both included?",
        ),
        "count_distinct": (
            "How many different values of '{cat}' occur among the {nouns}?",
            "The {nouns} fall into how many groups by '{cat}'?",
        ),
        "count_above_average": (
            "How many {nouns} have a '{col}' above the average '{col}' of all {nouns}?",
            "For how many {nouns} does '{col}' exceed the mean over all {nouns}?",
        ),
        "count_missing": (
            "For how many {nouns} does the table give no '{col}'?",
            "How many {nouns} are listed without a figure for '{col}'?",
        ),
    },
    "Domain-Specific": {
        "rate_of_row": (
            "In {trade}, the {rate} is '{top}' divided by '{bottom}'{scale}. What is the {rate} "
            "of '{name}'?" + ROUND,
            "By {rate} one understands, in {trade}, '{top}' divided by '{bottom}'{scale}. "
            "What is it for '{name}'?" + ROUND,
        ),
        "rate_extreme": (
            "In {trade}, the {rate} is '{top}' divided by '{bottom}'{scale}. Which {noun} has the "
            "{extreme} {rate}?",
            "The {rate}, a figure of {trade}, is '{top}' divided by '{bottom}'{scale}. For which "
            "{noun} is it {extreme}?",
        ),
        "rate_pooled": (
            "In {trade}, the {rate} is '{top}' divided by '{bottom}'{scale}. What is the {rate} "
            "of the {nouns} taken together, total by total?" + ROUND,
            "The {rate} in {trade} is '{top}' divided by '{bottom}'{scale}. Dividing the totals "
            "over all {nouns}, what {rate} results?" + ROUND,
        ),
        "growth": (
            "In {trade}, growth is the change of a figure in per cent of its earlier value. How "
            "much did '{col}' grow from {y1} to {y2}?" + ROUND,
            "In {trade}, the growth rate of '{col}' is its change in per cent of the earlier "
            "value. What was it between {y1} and {y2}?" + ROUND,
        ),
        "index": (
            "An index sets the figure of a base year to 100. In {trade}, with {y1} as base year, "
            "what is the index of '{col}' for {y2}?" + ROUND,
            "In {trade}, let '{col}' of {y1} be the base value 100 of an index. What does the "
            "index show for {y2}?" + ROUND,
        ),
    },
    "Multi-hop NumericalReasoing": {
        "other_of_extreme": (
            "What is the '{other}' of the {noun} with the {extreme} '{col}' among the "
            "{nouns}{where}?",
            "Among the {nouns}{where}, take the one with the {extreme} '{col}'. What is its "
            "'{other}'?",
        ),
        "share_of_total": (
            "What percentage of the total '{col}' of all {nouns} comes from the {nouns}{where}?"
            + ROUND,
            "Which share, in per cent, of the '{col}' of all {nouns} falls to those {nouns}{where}?"
            + ROUND,
        ),
        "average_of_top": (
            "What is the average '{other}' of the {n} {nouns} with the highest '{col}'?" + ROUND,
            "Pick the {n} {nouns} with the highest '{col}'. What is their mean '{other}'?" + ROUND,
        ),
        "needed_to_reach": (
            "How much would the '{col}' of '{name}' have to rise to equal that of the {noun} with "
            "the {extreme} '{other}'?",
            "'{name}' wants the same '{col}' as the {noun} with the {extreme} '{other}'. By how "
            "much must its '{col}' rise?",
        ),
    },
    "Ranking": {
        "nth": (
            "Ordered by '{col}' from high to low, which {noun} comes in place {n}?",
            "If the {nouns} are sorted by '{col}', highest first, which one stands at position "
            "{n}?",
        ),
        "place_of": (
            "Ordered by '{col}' from high to low, which place does '{name}' take among the "
            "{nouns}?",
            "Sort the {nouns} by '{col}', highest first. At which position is '{name}'?",
        ),
        "first_three": (
            "Name the three {nouns} with the {extreme} '{col}', the {extreme} first.",
            "Which three {nouns} have the {extreme} '{col}'? Begin with the {extreme}.",
        ),
        "group_extreme": (
            "Which '{cat}' has the {extreme} total '{col}'?",
            "Add up '{col}' for every '{cat}'. Which '{cat}' comes out {extreme}?",
        ),
    },
    "Time-basedCalculation": {
        "yearly_change": (
            "By how much did '{col}' change per year on average from {y1} to {y2}?" + ROUND,
            "What was the mean yearly change of '{col}' between {y1} and {y2}?" + ROUND,
        ),
        "strongest_rise": (
            "Taking the {nouns} in order of time, in which one was '{col}' up the most on the one "
            "before?",
            "Which {noun} of the table shows the greatest increase of '{col}' over the preceding "
            "one, in order of time?",
        ),
        "average_of_span": (
            "What is the average '{col}' over the years listed from {y1} to {y2}, both included?"
            + ROUND,
            "Take the years listed from {y1} up to and including {y2}. What is the mean '{col}'?"
            + ROUND,
        ),
        "years_apart": (
            "Going by '{col}', how many years lie between '{name}' and '{name2}'?",
            "How many years passed between the '{col}' of '{name}' and that of '{name2}'?",
        ),
        "average_age": (
            "Counting from '{col}', how old on average were the {nouns}{where} in {y1}? Give "
            "years." + ROUND,
            "In {y1}, how many years had passed since '{col}' on average for the {nouns}{where}?"
            + ROUND,
        ),
        "days_apart": (
            "How many days lie between the '{col}' of '{name}' and that of '{name2}'?",
            "Between '{name}' and '{name2}', by how many days do the '{col}' dates differ?",
        ),
    },
}
"""Subtype, as the data spell it, to kinds of question, to wordings."""
