"""The pages in a real browser: the tutorial's study from its creation to its end.

Needs Chromium: ``make test`` finds or installs it. Without it these tests fail and say so.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from tests.unit.service.conftest import ACCESS, WRITE
from tests.unit.service.network import measured

import edgewise as ew
from edgewise.service import create_app
from edgewise.service.serving import Place, _listening
from edgewise.study import Study

ROOT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).with_name("edgewise")
DATA = ROOT / "examples" / "data"
PICTURES = os.environ.get("EDGEWISE_SCREENSHOTS")
"""Where to put the pictures of docs/serve.md: ``make screenshots`` sets it."""


expect.set_options(timeout=30_000)  # a busy machine is not an error


def chromium() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail(
            "Chromium is not on this machine, and pages are tested in it; install it with "
            "'apt-get install -y chromium' as root (make test does, where it may), and repeat"
        )
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield running
        running.close()


@dataclass
class Visit:
    """A page, and what its console said."""

    page: Page
    link: str
    faults: list[str] = field(default_factory=list)

    @property
    def root(self) -> str:
        return self.link.partition("/sign-in")[0]


@contextmanager
def process(url: str) -> Iterator[str]:
    """The command itself; the link it printed."""
    command = [str(COMMAND), "serve", "--storage", url, "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests that run in the background of a shell would hand on that Ctrl-C is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        link = run.stdout.readline().strip()
        assert link.startswith("http"), run.stderr.read()
        try:
            yield link
        finally:
            run.send_signal(signal.SIGINT)  # Ctrl-C, with streams open
            code = run.wait(timeout=20)
            said = run.stderr.read()
            assert code == 130, said
            assert said.endswith("edgewise: interrupted\n")
            assert "Traceback" not in said


@contextmanager
def serving(url: str) -> Iterator[str]:
    """The same in a thread, which starts sooner."""
    app = create_app(url, ACCESS)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=2))
    with _listening(Place(port=0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/sign-in#token={WRITE}"
        finally:
            app.state.watch.end()
            server.should_exit = True
            thread.join(timeout=20)
            assert not thread.is_alive()


@contextmanager
def visiting(context: BrowserContext, link: str) -> Iterator[Visit]:
    page = context.new_page()
    visit = Visit(page, link)
    page.on("pageerror", lambda error: visit.faults.append(str(error)))
    page.on(
        "console",
        lambda line: visit.faults.append(line.text) if line.type in ("error", "warning") else None,
    )
    page.goto(link)
    expect(page).to_have_title("Studies · edgewise")
    assert "token" not in page.url
    yield visit
    assert visit.faults == []
    context.close()


def picture(page: Page, name: str = "", *, whole: bool = False) -> Image.Image:
    """A screenshot; one with a name is kept for the documents if they are being made."""
    drawn = Image.open(io.BytesIO(page.screenshot(full_page=whole))).convert("RGB")
    if PICTURES is not None and name:
        Path(PICTURES).mkdir(parents=True, exist_ok=True)
        drawn.quantize(128).save(Path(PICTURES) / f"serve-{name}.png", optimize=True)
    return drawn


def drawn_charts(page: Page, count: int) -> None:
    """Wait for so many charts; each is drawn when it comes into sight."""
    expect(page.locator(".chart")).to_have_count(count)
    for chart in page.locator(".chart").all():
        chart.scroll_into_view_if_needed()
        expect(chart.locator(".main-svg").first).to_be_visible()
    page.evaluate("scrollTo(0, 0)")


def phone(page: Page) -> None:
    """The study in a pocket, at night."""
    size = page.viewport_size
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#answer .tabs").scroll_into_view_if_needed()
    page.locator("#answer .tabs").evaluate("e => e.scrollIntoView()")
    page.wait_for_timeout(500)
    picture(page, "phone")
    page.emulate_media(color_scheme="light")
    assert size is not None
    page.set_viewport_size(size)


def deploy(visit: Visit, folder: Path, *options: str) -> None:
    """Ask by the button, measure the configuration that is offered, upload what was measured."""
    page = visit.page
    page.locator("#ask").click()
    with page.expect_download() as download:
        page.locator("#download").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    measured(text, folder, *options)
    page.locator("#tell-file").set_input_files(folder / "measurements.csv")
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("#said")).to_have_text("The measurements are on record.")


def test_the_tutorial_from_creation_to_the_recommended_configuration(
    browser: Browser, tmp_path: Path
) -> None:
    with (
        process(f"sqlite:///{tmp_path}/cells.db") as link,
        visiting(browser.new_context(viewport={"width": 1100, "height": 760}), link) as visit,
    ):
        page = visit.page
        expect(page.get_by_text("There is no study yet.")).to_be_visible()
        page.get_by_role("link", name="Set one up").click()
        page.locator("#files").set_input_files([DATA / "cells.toml", DATA / "graph.csv"])
        page.get_by_role("button", name="Set up the study").click()
        expect(page.locator("#wrong")).to_contain_text("Cells.toml, line 4: arms is 'arms.csv'")
        page.locator("#files").set_input_files(
            [DATA / "cells.toml", DATA / "graph.csv", DATA / "arms.csv"]
        )
        page.get_by_role("button", name="Set up the study").click()
        expect(page.locator("#said")).to_have_text("The study is set up.")

        # the first night: three measurements come late, and a wrong file is refused by line
        deploy(visit, tmp_path, "--lose", "3", "--late", str(tmp_path / "late.csv"))
        expect(page.locator("#next")).to_contain_text("3 measurements missing")
        page.get_by_text("Paste text instead").first.click()
        wrong = "source,target,reward\nharbour,station,0.5\nharbour,nowhere,1\n"
        page.get_by_label("measurements as text").fill(wrong)
        page.get_by_role("button", name="Upload").click()
        expect(page.locator("#wrong")).to_contain_text("line 3")
        expect(page.locator("#next")).to_contain_text("3 measurements missing")
        page.locator("#tell-file").set_input_files(tmp_path / "late.csv")
        page.get_by_role("button", name="Upload").click()
        expect(page.locator("#headline")).to_contain_text("1 round of at most 100")

        # the second night: two never come
        deploy(visit, tmp_path, "--lose", "2")
        picture(page, "waiting")
        page.get_by_text("Close round 2 …").click()
        page.get_by_role("button", name="Close round 2").click()
        expect(page.locator("#said")).to_have_text("The round is closed.")

        # a correction, and on to the certificate
        page.get_by_text("Correct a round …").click()
        correction = page.locator("#correct")
        correction.get_by_label("Round").fill("1")
        correction.get_by_text("Paste text instead").click()
        correction.get_by_role("textbox", name="corrections as text").fill(
            "source,target,reward\nharbour,station,0.76\n"
        )
        correction.get_by_role("button", name="Correct").click()
        expect(page.locator("#said")).to_contain_text("The correction is on record")
        while page.locator("#ask").count():
            deploy(visit, tmp_path)
        expect(page.locator("#headline .badge")).to_have_text("certified")
        drawn_charts(page, 4)
        page.evaluate("document.getElementById('said').remove()")
        picture(page, "study", whole=True)
        phone(page)
        with page.expect_download() as download:
            page.locator("#recommended").click()
        best = Path(download.value.path()).read_text(encoding="utf-8")
        assert best.splitlines()[1] == "harbour,mid+high"

        # going on
        page.get_by_text("Go on …").click()
        page.get_by_label("Rounds").fill("many")
        page.locator("#extend").click()
        expect(page.locator("#wrong")).to_contain_text("Rounds is 'many'; it must be a number")
        page.get_by_text("Go on …").click()
        page.get_by_label("Rounds").fill("2")
        page.locator("#extend").click()
        expect(page.locator("#said")).to_have_text("The study goes on.")
        deploy(visit, tmp_path)
        visit.faults[:] = [one for one in visit.faults if "422" not in one]  # the two refusals


@pytest.fixture
def farm(tmp_path: Path) -> tuple[str, Study]:
    """A study with two rounds, and node and arm names that are no names of friends."""
    url = f"sqlite:///{tmp_path}/farm.db"
    script = "<script>document.title='taken'</script>"
    graph = ew.Graph.from_edges([(script, "hub"), ("<b>bold</b>", "hub"), ("south", "hub")])
    problem = ew.Problem(graph, np.eye(2), noise=0.2, arm_labels=["<i>low", "high"])
    study = Study.create("<img src=x onerror=alert(1)>", problem, storage=url, delta=1e-12, rng=0)
    network = ew.BilinearEnvironment(problem, [[0.3, 0.1], [0.2, 0.9]], rng=1)
    study.extend(rounds=9)
    for _ in range(3):
        ticket = study.ask()
        study.tell(ticket, network(ticket.arms))
    return url, study


def test_labels_are_text_everywhere(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    with serving(url) as link, visiting(browser.new_context(), link) as visit:
        page = visit.page
        page.get_by_role("link", name=study.name).click()
        drawn_charts(page, 4)
        expect(page.locator("#headline h1")).to_contain_text(study.name)
        page.get_by_text("Arm of every node").click()
        cells = page.locator("#arms td").all_inner_texts()
        assert [str(label) for label in study.problem.graph.labels] == cells[::2]
        drawn = page.locator("#answer .chart .scatterlayer text").all_text_contents()
        assert sorted(drawn) == sorted(str(label) for label in study.problem.graph.labels)
        assert page.title() == f"{study.name} · edgewise"
        assert page.locator("img[src=x]").count() == 0
        page.goto(f"{visit.root}/compare?study={page.url.rpartition('/')[2]}&study=nobody")
        expect(page.get_by_role("alert")).to_contain_text("no study is called", ignore_case=True)
        visit.faults[:] = [one for one in visit.faults if "404" not in one]


def test_measurements_appear_without_reloading(browser: Browser, farm: tuple[str, Study]) -> None:
    """Another process tells; list and study change by themselves, what is half typed stays."""
    url, study = farm
    with (
        serving(url) as link,
        visiting(browser.new_context(viewport={"width": 900, "height": 700}), link) as visit,
        visiting(browser.new_context(), link) as other,
    ):
        listing = other.page
        page = visit.page
        page.get_by_role("link", name=study.name).click()
        expect(page.locator("html")).to_have_attribute("data-live", "on")
        expect(listing.locator("html")).to_have_attribute("data-live", "on")
        page.evaluate("window.same = true")
        ticket = study.ask()
        expect(page.locator("#next h2")).to_have_text("Round 4 is out")
        expect(listing.locator(".badge")).to_have_text("waiting")
        page.get_by_text("Paste text instead").first.click()
        page.get_by_label("measurements as text").fill("half typed")
        study.tell(ticket, {("hub", "south"): 0.5})
        expect(page.locator("#log tbody tr").first).to_contain_text("1 measurement told, 5 missing")
        assert page.get_by_label("measurements as text").input_value() == "half typed"
        page.get_by_label("measurements as text").fill("")
        study.close(ticket)
        expect(page.locator("#next h2")).to_have_text("Ready for round 5")
        expect(page.locator("#headline")).to_contain_text("4 rounds")
        assert page.evaluate("window.same") is True


def test_dropping_a_file_uploads_it(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    study.ask()
    with serving(url) as link, visiting(browser.new_context(), link) as visit:
        page = visit.page
        page.get_by_role("link", name=study.name).click()
        transfer = page.evaluate_handle(
            """() => { const sent = new DataTransfer();
            sent.items.add(new File(["source,target,reward\\nsouth,hub,0.5\\n"], "night.csv"));
            return sent; }"""
        )
        page.dispatch_event("#tell", "drop", {"dataTransfer": transfer})
        expect(page.locator("#said")).to_have_text("The measurements are on record.")
        assert study.status().missing == 5


def brightness(drawn: Image.Image, at: tuple[int, int]) -> float:
    red, green, blue = drawn.getpixel(at)  # type: ignore[misc]
    return (red + green + blue) / 3


def test_dark_mode_and_a_phone(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    study.ask()
    options = {"width": 390, "height": 844}
    with (
        serving(url) as link,
        visiting(
            browser.new_context(viewport=options, color_scheme="dark", has_touch=True),  # type: ignore[arg-type]
            link,
        ) as visit,
    ):
        page = visit.page
        listed = picture(page)
        assert brightness(listed, (3, 840)) < 40
        page.get_by_role("link", name=study.name).click()
        drawn_charts(page, 4)
        shown = picture(page)
        assert brightness(shown, (3, 840)) < 40
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, "the page is wider than the phone"
        ink = page.locator(".chart .legendtext").first.evaluate("e => getComputedStyle(e).fill")
        assert sum(map(int, ink[4:-1].split(","))) > 500, f"dark letters on a dark ground: {ink}"
        page.emulate_media(color_scheme="light")
        assert brightness(picture(page), (3, 840)) > 200


def test_by_keyboard_alone(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    with serving(url) as link, visiting(browser.new_context(), link) as visit:
        page = visit.page
        page.locator(f"a.name >> text={study.name}").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#ask")).to_be_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "ask":
                break
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("The round is out")
        assert study.pending is not None
        page.locator("summary", has_text="Cancel round 4").focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#said")).to_contain_text("cancelled")


def test_two_studies_side_by_side(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    Study.create("second", study.problem, storage=url, rng=4)
    with (
        serving(url) as link,
        visiting(browser.new_context(viewport={"width": 1100, "height": 800}), link) as visit,
    ):
        page = visit.page
        expect(page.locator("#compare")).to_be_disabled()
        for box in page.get_by_role("checkbox").all():
            box.check()
        page.locator("#compare").click()
        expect(page.locator(".sides thead a")).to_have_text([study.name, "second"])
        drawn_charts(page, 2)


def test_a_large_network_is_drawn_in_groups(browser: Browser, tmp_path: Path) -> None:
    """Ten thousand nodes: no more marks than can be told apart, and a word about it."""
    index = np.arange(10_000).reshape(100, 100)
    down = np.column_stack([index[:-1].ravel(), index[1:].ravel()])
    across = np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()])
    graph = ew.Graph.from_edges(np.vstack([down, across]))
    problem = ew.Problem(graph, np.eye(2), noise=1.0)
    url = f"sqlite:///{tmp_path}/large.db"
    study = Study.create("large", problem, storage=url, strategy="g-optimal", delta=1e-300, rng=0)
    study.extend(rounds=5)
    network = ew.BilinearEnvironment(problem, [[0.0, 1.0], [1.0, 0.0]], rng=1)
    for _ in range(2):
        ticket = study.ask()
        study.tell(ticket, network(ticket.arms))
    study.ask()
    with (
        serving(url) as link,
        visiting(browser.new_context(viewport={"width": 1100, "height": 800}), link) as visit,
    ):
        page = visit.page
        page.get_by_role("link", name="large").click()
        expect(page.locator("#headline")).to_contain_text("2 rounds")
        page.locator("#answer .chart").scroll_into_view_if_needed()
        expect(page.locator(".caption")).to_contain_text("10000 nodes, drawn as")
        assert page.locator("#answer .chart .point").count() <= 36 * 36
        picture(page, "large")


def test_a_trial_over_its_pairs(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    study.confirm(baseline=[0, 0, 0, 0], candidate=[1, 1, 1, 1], max_pairs=12, rng=0)
    network = ew.BilinearEnvironment(study.problem, [[0.3, 0.1], [0.2, 0.9]], rng=2)
    trial = study.trial
    assert trial is not None
    for _ in range(5):
        ticket = trial.ask()
        trial.tell(ticket, network(ticket.arms))
    with (
        serving(url) as link,
        visiting(browser.new_context(viewport={"width": 1000, "height": 900}), link) as visit,
    ):
        page = visit.page
        expect(page.locator(".badge")).to_have_text("in trial")
        page.get_by_role("link", name=study.name).click()
        page.get_by_label("Its total").fill("3.1")
        page.get_by_role("button", name="Upload").click()
        expect(page.locator("#said")).to_have_text("The measurements are on record.")
        page.locator("#trial .chart").scroll_into_view_if_needed()
        expect(page.locator("#trial .main-svg").first).to_be_visible()
        expect(page.locator("#trial")).to_contain_text("3 pairs")
        picture(page, "trial")


def test_an_error_shows_itself(browser: Browser, farm: tuple[str, Study]) -> None:
    url, study = farm
    with serving(url) as link, visiting(browser.new_context(), link) as visit:
        page = visit.page
        page.route("**/answer", lambda route: route.abort())
        page.get_by_role("link", name=study.name).click()
        expect(page.locator("#answer [role=alert]")).to_contain_text("could not be shown")
        visit.faults.clear()
