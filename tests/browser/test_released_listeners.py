"""Listeners of an instrument end when its component is taken off the page."""

from __future__ import annotations

from playwright.sync_api import Page

COUNTED = """async () => {
    const urls = performance.getEntriesByType('resource').map((one) => one.name);
    const kit = (name) => import(urls.find((one) => one.endsWith(`kit/${name}.js`)));
    const { hosted, show } = await kit('preact_view');
    const { onTheme } = await kit('theme');
    const toggled = async () => {
        document.body.classList.toggle('dark');
        await new Promise((done) => setTimeout(done));
    };
    const root = document.createElement('div');
    document.body.append(root);
    let heard = 0;
    const listens = () => hosted({ make: () => onTheme(() => heard++) });
    const counts = [];
    for (let turn = 0; turn < 3; turn++) {
        show(root, listens, {});
        await toggled();
        counts.push(heard);
        show(root, () => null, {});
        await toggled();
        counts.push(heard);
    }
    root.remove();
    return counts;
}"""


def test_a_component_that_is_taken_away_hears_no_more_of_the_theme(untouched: Page) -> None:
    assert untouched.evaluate(COUNTED) == [1, 1, 2, 2, 3, 3]
