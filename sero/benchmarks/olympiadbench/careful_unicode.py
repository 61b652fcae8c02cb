"""The LaTeX spelling of mathematical characters: Greek letters, signs, fractions, number sets."""

from __future__ import annotations

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma "
    "tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega pi "
    "phi epsilon mu Omega"
)
_GREEK = {
    letter: "\\" + name + " "
    for letter, name in zip(
        "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΦΨΩπϕϵµΩ",
        _GREEK_NAMES.split(),
        strict=True,
    )
}
TO_LATEX = str.maketrans(
    {
        **_GREEK,
        **dict.fromkeys("×·⋅∙∗✕", "*"),
        **dict.fromkeys("⟨〈", "("),
        **dict.fromkeys("⟩〉", ")"),
        **dict.fromkeys("≤⩽≦", "\\le "),
        **dict.fromkeys("≥⩾≧", "\\ge "),
        **dict.fromkeys("≈≃∼", "\\approx "),
        **dict.fromkeys("°º˚", "°"),
        **dict.fromkeys("′’", "'"),
        **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},
        "÷": "/",
        "、": ",",
        "。": ".",
        "⁄": "/",
        "∕": "/",
        "∶": ":",
        "∞": "\\infty ",
        "≠": "\\ne ",
        "≡": "\\equiv ",
        "√": "\\sqrt ",
        "∛": "\\sqrt[3] ",
        "∜": "\\sqrt[4] ",
        "∪": "\\cup ",
        "∩": "\\cap ",
        "∈": "\\in ",
        "∖": "\\setminus ",
        "±": "\\pm ",
        "∓": "\\mp ",
        "ℝ": "\\mathbb{R}",
        "ℤ": "\\mathbb{Z}",
        "ℕ": "\\mathbb{N}",
        "ℚ": "\\mathbb{Q}",
        "∅": "\\emptyset ",
        "∠": "\\angle ",
        "⌊": "\\lfloor ",
        "⌋": "\\rfloor ",
        "⌈": "\\lceil ",
        "⌉": "\\rceil ",
        "½": "\\frac{1}{2}",
        "⅓": "\\frac{1}{3}",
        "⅔": "\\frac{2}{3}",
        "¼": "\\frac{1}{4}",
        "¾": "\\frac{3}{4}",
        "…": "\\ldots ",
        "€": "",
        "£": "",
    }
)
"""For `str.translate`."""
