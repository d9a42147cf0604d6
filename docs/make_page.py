"""The picture of a page in docs/visualization.md: fifty cars on a track of 120,000 triangles.

    python docs/make_page.py            needs playwright and a Chromium

Prints how large the page is, and how many frames a second it draws where nothing but the processor does.
"""

import os
import shutil
import sys
import tempfile

import numpy as np

import gpu_collide as gc
from gpu_collide.scenes import demo_race

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "images")
CARS, FRAMES, RATE = 50, 600, 10.0
WITHOUT_GPU = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


def race() -> gc.Recording:
    """Cars of one drive that follow each other closely, each a little beside the line of it."""
    arrays = demo_race(1, stations=3750, seconds=120.0, rate=RATE)
    drive = gc.Poses.from_quat_xyzw(arrays["position"], arrays["quaternion_xyzw"])  # at uneven times
    rng = np.random.default_rng(5)
    cars = []
    for k in range(CARS):
        frames = drive[4 * k : 4 * k + FRAMES]
        sway = 1.6 * np.sin(np.arange(FRAMES) / rng.uniform(12, 40) + rng.uniform(0, 6)) + rng.uniform(-1, 1)
        along = 2.5 * np.sin(np.arange(FRAMES) / rng.uniform(20, 60) + rng.uniform(0, 6))
        aside = np.stack([along, sway, np.full(FRAMES, 0.03)], axis=1)
        cars.append((frames.apply(aside), frames.unit_wxyz))
    position, quat = (np.stack(each, axis=1) for each in zip(*cars, strict=True))
    track = gc.Mesh(arrays["track_vertices"], arrays["track_faces"])
    arrays = {"time": np.arange(FRAMES) / RATE, "position": position, "quat_wxyz": quat}
    return gc.Recording.from_arrays(arrays, meshes=gc.shapes.car(), static=track)


def main(folder: str = FOLDER) -> None:
    from playwright.sync_api import sync_playwright

    recording = race()
    found = recording.collide(max_speed=70.0)
    with tempfile.TemporaryDirectory() as there, sync_playwright() as driver:
        path = os.path.join(there, "race.html")
        gc.view.page(found, recording, path)
        faces, size = recording.static.meshes[0].n_faces, os.path.getsize(path) / 1e6
        print(f"{faces:,} triangles, {len(found):,} contacts, {size:.1f} MB")
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=WITHOUT_GPU
        )
        tab = browser.new_page(viewport={"width": 1180, "height": 700})
        tab.goto("file://" + path)
        tab.wait_for_selector("body[data-ready=yes]", timeout=120_000)
        hardest = int(np.argmax(found.encounters().approach))
        tab.evaluate(f"viewer.select(viewer.scene.data.event_hardest[{hardest}])")
        tab.evaluate("viewer.camera.distance *= 3.2; viewer.seek(viewer.now + 0.15); viewer.select(null)")
        tab.wait_for_timeout(500)
        tab.screenshot(path=os.path.join(folder, "page.png"))
        tab.evaluate(
            "window.frames = 0; const draw = viewer.drawing.frame; viewer.drawing.frame = "
            "function (...all) { window.frames++; return draw.apply(this, all); }; viewer.play(true)"
        )
        tab.wait_for_timeout(5000)
        print(f"{tab.evaluate('window.frames') / 5:.0f} frames a second without a GPU")
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
