"""What the tests of pages share: sizes of screens, hostile names, what is read from a page."""

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "\"'><b onfocus=alert(1) autofocus>",
    "=1+cmd|' /C calc'!A0",
    'comma, "quote"\nand line\u2028\u202e',
    "-plain",
]


def column(page, number, table="#chosen-table"):
    return page.locator(f"{table} tbody tr td:nth-child({number})").all_inner_texts()


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))")
