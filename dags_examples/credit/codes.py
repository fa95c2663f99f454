"""Readable names for the codes of the German credit data, from UCI's code book."""

SCHEMA = (
    "checking string, duration int, credit_history string, purpose string, credit_amount int, savings string, "
    "employment string, inst_rate int, personal_status string, other_debtors string, residence_time int, "
    "property string, age int, other_inst string, housing string, num_credits int, job string, dependants int, "
    "phone string, foreigner string, label string"
)
TERMS = {
    "checking": {"A11": "below_0", "A12": "below_200", "A13": "from_200", "A14": "none"},
    "credit_history": {
        "A30": "no_credits",
        "A31": "paid_here",
        "A32": "paid_so_far",
        "A33": "delayed",
        "A34": "critical",
    },
    "purpose": {
        "A40": "new_car",
        "A41": "used_car",
        "A42": "furniture",
        "A43": "television",
        "A44": "appliances",
        "A45": "repairs",
        "A46": "education",
        "A48": "retraining",
        "A49": "business",
        "A410": "other",
    },
    "savings": {
        "A61": "below_100",
        "A62": "below_500",
        "A63": "below_1000",
        "A64": "from_1000",
        "A65": "unknown",
    },
    "employment": {
        "A71": "none",
        "A72": "below_1_year",
        "A73": "below_4_years",
        "A74": "below_7_years",
        "A75": "from_7_years",
    },
    "other_debtors": {"A101": "none", "A102": "co_applicant", "A103": "guarantor"},
    "property": {"A121": "real_estate", "A122": "savings_plan", "A123": "car", "A124": "none"},
    "other_inst": {"A141": "bank", "A142": "stores", "A143": "none"},
    "housing": {"A151": "rent", "A152": "own", "A153": "free"},
    "job": {"A171": "unskilled_abroad", "A172": "unskilled", "A173": "skilled", "A174": "management"},
    "phone": {"A191": "0", "A192": "1"},
    "foreigner": {"A201": "1", "A202": "0"},
    "label": {"2": "0"},
}
STATUS = {"A91": "divorced", "A92": "divorced", "A93": "single", "A94": "married", "A95": "single"}
WOMEN = ["A92", "A95"]
ENCODED = [
    "checking",
    "credit_history",
    "purpose",
    "savings",
    "employment",
    "other_debtors",
    "property",
    "other_inst",
    "housing",
    "job",
]
