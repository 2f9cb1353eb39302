"""The whole site: pages, looks, and the server that shows them."""

from __future__ import annotations

import dataclasses
import threading

import gradio as gr
import torch

from explorer import device
from explorer.explore import explore
from explorer.instruments.base import head
from explorer.own_loss import add_own_loss
from explorer.pages import explore as explore_page
from explorer.picture import picture
from explorer.scenario import Scenario
from explorer.sources.tables import LARGEST_FILE

THEME = gr.themes.Base(
    primary_hue="indigo",
    neutral_hue="stone",
    font=["IBM Plex Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "system-ui"],
    font_mono=["IBM Plex Mono", "ui-monospace", "monospace"],
).set(
    body_background_fill="#fbfaf8",
    body_background_fill_dark="#141518",
    block_shadow="none",
)


def first_scenario(device_name: str | None, own_loss: str | None) -> Scenario:
    """What the page opens with: the default scene, on this device, under one's own loss."""
    device.choose(device_name)
    if own_loss is None:
        return Scenario()
    return dataclasses.replace(Scenario(), loss=add_own_loss(own_loss).name)


def build() -> gr.Blocks:
    with gr.Blocks(title="LossPrism", fill_width=True, analytics_enabled=False) as demo:
        explore_page.build()
    return demo


def open_page(first: Scenario, host: str, port: int | None) -> tuple[gr.Blocks, str]:
    """Start serving in the background; the blocks, to close them, and the address."""
    torch.set_num_threads(1)  # see device.all_cores
    warm = threading.Thread(target=_warm, args=(first,), daemon=True)
    warm.start()
    demo = build()
    _, address, _ = demo.launch(
        server_name=host,
        server_port=port,
        theme=THEME,
        head=head(explore_page.page_data(first)),
        prevent_thread_lock=True,
        quiet=True,
        run_history=False,
        ssr_mode=False,
        enable_monitoring=False,
        max_file_size=LARGEST_FILE,
        footer_links=[],
        share=False,
    )
    return demo, address.rstrip("/")


def _warm(first: Scenario) -> None:
    """The first picture is computed while the browser is still loading the page."""
    picture(explore(first))
