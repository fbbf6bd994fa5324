"""Airflow's own pages, as a person uses them."""

from __future__ import annotations

from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.expected_conditions import element_to_be_clickable, presence_of_element_located
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 60  # seconds


def see(browser: Chrome, path: str, seconds: float = PATIENCE) -> WebElement:
    """What an XPath finds, once it is there."""
    return WebDriverWait(browser, seconds).until(presence_of_element_located((By.XPATH, path)))


def press(browser: Chrome, path: str) -> None:
    """Click on what an XPath finds, once that can be done: the page may still be scrolling, or being drawn again."""

    def click(browser: Chrome) -> bool:
        element = element_to_be_clickable((By.XPATH, path))(browser)
        if element:
            browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
            element.click()
        return bool(element)

    moving = (ElementClickInterceptedException, StaleElementReferenceException)
    WebDriverWait(browser, PATIENCE, ignored_exceptions=moving).until(click)


def sign_in(browser: Chrome, address: str, user: str, password: str) -> None:
    """Through the login page."""
    browser.get(address)
    see(browser, "//input[@name='username']").send_keys(user)
    see(browser, "//input[@name='password']").send_keys(password)
    press(browser, "//button[@type='submit']")
    see(browser, "//nav | //*[@data-testid='nav'] | //a[contains(@href,'/dags')]")


def choose(browser: Chrome, field: str, value: str) -> None:
    """A value of a list in a form."""
    see(browser, f"//input[@name='{field}']/preceding::input[@role='combobox'][1]").send_keys(value, Keys.ENTER)


def enter_frame(browser: Chrome, title: str) -> None:
    """Into a plugin's page."""
    browser.switch_to.default_content()
    browser.switch_to.frame(see(browser, f"//iframe[@title='{title}']"))
